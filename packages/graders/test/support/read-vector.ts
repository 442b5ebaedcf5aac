/** Rows of one recorded vector file of this repository, read line by line without any code of ours. */
export async function readVector<Row>(name: string): Promise<readonly Row[]> {
  const path = new URL(`../../../../vectors/${name}`, import.meta.url);
  const lines = (await Bun.file(path).text()).split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as Row);
}
