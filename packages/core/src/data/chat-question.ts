/**
 * In: a prompt that is a list of messages, as verl and chat data sets write it. Out: the message that asks.
 * Refuses to know: what the run says around a question; a row's own system message is only counted.
 */
import { isRecord } from "./column-path.ts";

export type ChatQuestion = {
  /** Place of the only user message; null = there is none, several, or somebody has answered already. */
  readonly at: number | null;
  /** What that message holds; undefined = nothing, or there is no such message. */
  readonly content: unknown;
  readonly hasSystem: boolean;
  /** Place of the last user message, for advice; null = there is none. */
  readonly lastUser: number | null;
  /** The roles in order, for people. */
  readonly roles: string;
};

const SHOWN_ROLES = 6;

export function findChatQuestion(messages: readonly unknown[]): ChatQuestion {
  const roles = messages.map(roleOf);
  const users = roles.flatMap((role, at) => (role === "user" ? [at] : []));
  const isOneTurn = users.length === 1 && roles.every((role) => TURNS.has(role));
  const at = isOneTurn ? (users[0] ?? null) : null;
  const asking = at === null ? null : messages[at];
  return {
    at,
    content: isRecord(asking) ? asking["content"] : undefined,
    hasSystem: roles.includes("system"),
    lastUser: users.at(-1) ?? null,
    roles: describeRoles(roles),
  };
}

const TURNS: ReadonlySet<string> = new Set(["system", "user"]);

function roleOf(message: unknown): string {
  const role = isRecord(message) ? message["role"] : undefined;
  return typeof role === "string" ? role : "a message without role";
}

function describeRoles(roles: readonly string[]): string {
  if (roles.length === 0) return "an empty list";
  const more = roles.length > SHOWN_ROLES ? `, … (${roles.length} messages)` : "";
  return roles.slice(0, SHOWN_ROLES).join(", ") + more;
}
