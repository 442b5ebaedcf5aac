import { attempt, attemptSyscall, HELD, type Attack, type Bait } from "./attack.ts";

function held(name: string, expression: string, setup = ""): Attack {
  const code = attempt(expression, setup);
  return { name, code, needs: ["no_network"], ends: ["ok"], prints: HELD };
}

export function networkAttacks(bait: Bait): readonly Attack[] {
  return [
    held("TCP to loopback", `socket.create_connection(('127.0.0.1', ${bait.port}), 1)`),
    held("TCP to loopback, version 6", `socket.create_connection(('::1', ${bait.port}), 1)`),
    held("TCP to the outside", "socket.create_connection(('192.0.2.1', 80), 1)"),
    held("a listener", "socket.create_server(('127.0.0.1', 0))"),
    held("UDP", "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))"),
    held("a raw socket", "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)"),
    held("a packet socket", "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)"),
    held("a unix socket by path", `socket.socket(socket.AF_UNIX).connect('${bait.unixSocket}')`),
    held(
      "a unix socket by abstract name",
      `socket.socket(socket.AF_UNIX).connect('\\0${bait.abstractSocket}')`,
    ),
    held(
      "netlink",
      "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).bind((0, 0)) or os.write(99, b'')",
    ),
    held("vsock", "socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).connect((2, 1))"),
    held("a name looked up", "socket.getaddrinfo('example.org', 80)"),
    held(
      "a page fetched",
      `urllib.request.urlopen('http://127.0.0.1:${bait.port}/', timeout=1)`,
      "import urllib.request",
    ),
    {
      name: "a ring that opens sockets by itself",
      code: attemptSyscall(425, "8", "0"),
      needs: ["syscall_filter"],
      ends: ["ok"],
      prints: HELD,
    },
    {
      name: "a pair of sockets within the call stays possible",
      code: "import socket\na, b = socket.socketpair()\na.send(b'x')\nprint(b.recv(1))",
      ends: ["ok"],
      prints: /^b'x'/,
    },
  ];
}
