/** Reads recorded cases, one JSON value a line, from a file beside the test. */
export function readCases<T>(name: string, beside: string): T[] {
  const text = Deno.readTextFileSync(new URL(name, beside));
  return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
}
