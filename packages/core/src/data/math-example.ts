/** One problem. Frozen: every member of every group that meets it reads the same record. */
export type MathExample = {
  readonly id: string;
  readonly question: string;
  /** Reference answer as the data set writes it. */
  readonly answer: string;
  readonly dataSource: string;
};
