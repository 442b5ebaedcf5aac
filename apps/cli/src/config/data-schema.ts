/** Which problems there are: files, their columns, how many and in which order. */
import { SHUFFLES } from "@interlace/core";
import { z } from "zod";

const positive = z.int().min(1);

const column = z.string().min(1).nullable().default(null);

/** Column paths as core reads them: `problem`, `reward_model.ground_truth`, `prompt[0].content`. */
const columnsSchema = z.strictObject({
  question: column.describe("column of the question, null = told from the first record"),
  answer: column.describe("column of the answer, null = told from the first record"),
  id: column.describe("column of the id, null = the record's number"),
  dataSource: column.describe("column of the data set's name, null = the file's"),
  answerForm: z
    .enum(["plain", "hashes", "boxed"])
    .default("plain")
    .describe("what of the answer's column counts: all, what follows ####, the last box"),
});

export const dataSchema = z.strictObject({
  path: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe("problem file: .jsonl, .csv, .parquet, .arrow; null = the built-in arithmetic"),
  mixture: z
    .array(
      z.strictObject({
        path: z.string().min(1).describe("problem file"),
        weight: z.number().gt(0).default(1).describe("its share, against the other parts'"),
      }),
    )
    .default([])
    .describe("several problem files in fixed shares, in the place of data.path"),
  columns: columnsSchema.prefault({}),
  minQuestionCharacters: z.int().min(0).default(0).describe("shorter questions are left out"),
  maxQuestionCharacters: positive
    .nullable()
    .default(null)
    .describe("longer questions are left out, null = none"),
  maxAnswerCharacters: positive
    .nullable()
    .default(null)
    .describe("problems with longer answers are left out, null = none"),
  questionsPerBatch: positive.default(8).describe("problems of one batch"),
  maxSamples: z.int().min(0).default(0).describe("problems of the file to use, 0 = all"),
  shuffle: z
    .enum(["none", ...SHUFFLES])
    .default("none")
    .describe("order of the problems; python = that of random.Random(seed).shuffle"),
});
