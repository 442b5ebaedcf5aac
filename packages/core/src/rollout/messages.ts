import type { Protocol } from "../protocol/protocol.ts";
import type { Member } from "./group.ts";
import { turnText } from "./turn-text.ts";

export type Message =
  | { readonly role: "assistant"; readonly content: string }
  | {
      readonly role: "tool";
      readonly tool_call_id: string;
      readonly name: "code_interpreter";
      readonly content: string;
    };

/** The history after system and user as the model wrote and read it; a call stays text, never a structured call. */
export function messagesOf(protocol: Protocol, member: Member): readonly Message[] {
  return member.turns.flatMap((_, turn): Message[] => {
    const said: Message = { role: "assistant", content: turnText(protocol, member, turn) };
    const call = member.toolCalls.find((c) => c.turn === turn && c.content !== null);
    if (call === undefined || call.content === null) return [said];
    const { id, content } = call;
    return [said, { role: "tool", tool_call_id: id, name: "code_interpreter", content }];
  });
}
