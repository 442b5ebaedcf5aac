/**
 * One problem of an evaluation, as its file holds it. In: a complete group. Out: a line: first the fields that others
 * read, in their order, then ours. Holds no clock: the same evaluation has the same bytes.
 */
import {
  countSampled,
  extractBoxed,
  finalText,
  messagesOf,
  scoreGrade,
  strip,
  terminationOf,
  type GradedMember,
  type Group,
  type Member,
  type Protocol,
} from "@interlace/core";
import { z } from "zod";

const count = z.int().min(0);

const generationSchema = z.looseObject({
  /** The boxed answer as it was graded: stripped. */
  predicted_answer: z.string().nullable(),
  /** As the model wrote it; null = no valid box. */
  boxed_answer: z.string().nullable(),
  /** null = unscored, as `formatted`. */
  correct: z.boolean().nullable(),
  formatted: z.boolean().nullable(),
  code_calls: count,
  turns: count,
  /** Sampled tokens of all turns. */
  completion_tokens: count,
  /** Text of the last turn: what was graded. */
  text: z.string(),
});

/** What others' files hold too; ours hold more. */
export const problemLineSchema = z.looseObject({
  type: z.literal("problem"),
  problem_id: z.string(),
  problem: z.string(),
  ground_truth: z.string(),
  val_n: z.int().min(1),
  num_correct: count,
  /** null = no generation is scored. */
  pass_at_n: z.boolean().nullable(),
  generations: z.array(generationSchema).min(1),
});

const ownGenerationSchema = generationSchema.extend({
  termination: z.string(),
  /** Why it has no verdict; null = it has one. */
  unscored: z.string().nullable(),
  /** Which judge decided. */
  graded_by: z.string().nullable(),
  /** What came before the last turn: the assistant's turns and the tool's results. */
  history: z.array(z.strictObject({ role: z.string(), content: z.string() })),
});

/** A line that an evaluation can go on from. */
export const ownProblemLineSchema = problemLineSchema.extend({
  generations: z.array(ownGenerationSchema).min(1),
  /** Place in the whole data set, from 0. */
  question_index: count,
  num_unscored: count,
  config_hash: z.string(),
});

export type ProblemLine = z.output<typeof ownProblemLineSchema>;
export type GenerationLine = ProblemLine["generations"][number];

/** Throws on a group that is not complete. */
export function problemLine(group: Group, protocol: Protocol, configHash: string): ProblemLine {
  const { problem, question, members } = group;
  const generations = members.map((member) => generationLine(member, protocol));
  const correct = generations.filter((each) => each.correct === true).length;
  const unscored = generations.filter((each) => each.correct === null).length;
  return {
    type: "problem",
    problem_id: problem.id,
    problem: problem.question,
    ground_truth: problem.answer,
    val_n: members.length,
    num_correct: correct,
    pass_at_n: unscored === members.length ? null : correct > 0,
    generations,
    question_index: question,
    num_unscored: unscored,
    config_hash: configHash,
  };
}

function generationLine(member: Member, protocol: Protocol): GenerationLine {
  const { phase, codeCalls, turns, failure } = member as GradedMember;
  const { grade } = phase;
  const score = scoreGrade(grade);
  const text = finalText(protocol, member) ?? "";
  // What has no verdict still shows what it would have been judged by.
  const boxed = score === null ? extractBoxed(text) : score.answer;
  return {
    predicted_answer: boxed === null ? null : strip(boxed),
    boxed_answer: boxed,
    correct: score?.correct ?? null,
    formatted: score?.validFormat ?? null,
    code_calls: codeCalls,
    turns: turns.length,
    completion_tokens: countSampled(member),
    text,
    termination: terminationOf(member),
    unscored: grade.kind === "unscored" ? (failure?.cause ?? grade.reason) : null,
    graded_by: grade.kind === "unscored" ? null : grade.by,
    history: messagesOf(protocol, member)
      .slice(0, -1)
      .map(({ role, content }) => ({ role, content })),
  };
}
