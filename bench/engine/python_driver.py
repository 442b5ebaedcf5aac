"""The least that Python can do: the same requests with asyncio, aiohttp and orjson, and only ids and logprobs kept.

python python_driver.py URL PLAN_FILE; prints one JSON line, as the other drivers do.
"""

import asyncio
import gc
import platform
import resource
import sys
import time
from array import array

import aiohttp
import orjson

URL, PLAN_PATH = sys.argv[1:3]
with open(PLAN_PATH, "rb") as file:
    PLAN = orjson.loads(file.read())
CELL = PLAN["cell"]
WIRE = CELL["wire"]
SIZE = PLAN["groupSize"]
TURNS = PLAN["turns"]
DELTAS = [delta.encode() for delta in PLAN["deltas"]]
PROMPTS = [prompt.encode() for prompt in PLAN["prompts"]]
HEADERS = {"content-type": "application/json"}
count = 0


def prepare(template):
    return [part if i % 2 else part.encode() for i, part in enumerate(template)]


FIRST, LATER = prepare(PLAN["first"]), prepare(PLAN["later"])


def fill(template, prompt, seed):
    global count
    parts = []
    for i, part in enumerate(template):
        if i % 2 == 0:
            parts.append(part)
        elif part == "id":
            count += 1
            parts.append(b"%08x" % count)
        elif part == "prompt":
            parts.append(prompt)
        else:
            parts.append(b"%d" % (seed + int(part[5:])))
    return b"".join(parts)


def read_vllm(answer):
    return [
        (choice["token_ids"], [entry["logprob"] for entry in choice["logprobs"]["content"]])
        for choice in answer["choices"]
    ]


def read_completions(answer):
    return [(choice["token_ids"], choice["logprobs"]["token_logprobs"]) for choice in answer["choices"]]


def read_sglang(answer):
    return [
        (item["output_ids"], [entry[0] for entry in item["meta_info"]["output_token_logprobs"]])
        for item in answer
    ]


READ = {"vllm": read_vllm, "vllm_completions": read_completions, "sglang": read_sglang}[WIRE]


async def ask(session, body):
    async with session.post(PLAN["path"], data=body, headers=HEADERS) as response:
        return READ(orjson.loads(await response.read()))


async def run_member(session, start, question, member, first, prompt):
    ids, logprobs = array("i", first[0]), array("f", first[1])
    text = prompt
    last = first
    for turn in range(1, TURNS):
        text = b"".join((text, b",", orjson.dumps(last[0])[1:-1], DELTAS[turn - 1]))
        seed = start + (question * PLAN["turnsOfSeed"] + turn) * SIZE + member
        (last,) = await ask(session, fill(LATER, text, seed))
        ids.extend(last[0])
        logprobs.extend(last[1])
    return ids, logprobs


async def run_group(session, step, question):
    start = PLAN["seeds"][step]
    prompt = PROMPTS[question]
    seed = start + question * PLAN["turnsOfSeed"] * SIZE
    firsts = await ask(session, fill(FIRST, prompt, seed))
    return await asyncio.gather(
        *(run_member(session, start, question, m, first, prompt) for m, first in enumerate(firsts))
    )


async def run_batch(session, step):
    return await asyncio.gather(
        *(run_group(session, step, question) for question in range(PLAN["groups"][step]))
    )


def cpu_ms():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return (usage.ru_utime + usage.ru_stime) * 1000


def resident_bytes():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()


async def main():
    connector = aiohttp.TCPConnector(limit=0)
    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(URL, connector=connector, timeout=timeout) as session:
        for _ in range(PLAN["warmUps"]):
            await run_batch(session, 0)
        used, wall_ms, grown, tokens, turns = 0.0, [], 0, 0, 0
        given = PROMPTS[0].count(b",") + 1 + sum(delta.count(b",") for delta in DELTAS)
        for step in range(1, CELL["batches"] + 1):
            gc.collect()
            resident, before, began = resident_bytes(), cpu_ms(), time.perf_counter()
            groups = await run_batch(session, step)
            wall_ms.append((time.perf_counter() - began) * 1000)
            used += cpu_ms() - before
            grown = resident_bytes() - resident
            members = [member for group in groups for member in group]
            turns += len(members) * TURNS
            tokens = sum(len(ids) for ids, _ in members) + len(members) * given
    versions = f"Python {platform.python_version()}, aiohttp {aiohttp.__version__}, orjson {orjson.__version__}"
    line = {
        "driver": "python",
        "turns": turns,
        "cpuMs": used,
        "wallMs": wall_ms,
        "grownBytes": grown,
        "liveTokens": tokens,
        "version": versions,
        "parts": {},
    }
    print(orjson.dumps(line).decode())


asyncio.run(main())
