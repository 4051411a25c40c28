import { within } from "./deadline.ts";
import type { MatchContext } from "./match.ts";
import { Mismatch, show } from "./mismatch.ts";
import { RunningServer, type Target } from "./target.ts";
import type { HttpAnswer, Transcript } from "./lines.ts";
import type { Workspace } from "./workspace.ts";

/** Plays a recording of plain HTTP exchanges with the listener, each on a connection of its own. */
export async function playHttp(
  transcript: Transcript,
  target: Target,
  workspace: Workspace,
  context: MatchContext,
): Promise<void> {
  const args = await Promise.all(transcript.meta.args!.map((arg) => context.bindings.fill(arg)));
  await using server = target.kind === "url"
    ? null
    : await RunningServer.start([...target.words, ...args], workspace, transcript.meta.serverEnv);
  const { hostname, port } = new URL(server?.url ?? (target as { url: string }).url);
  context.bindings.set("port", port);
  const lines = [...transcript.lines];
  while (lines.length > 0) {
    const [sent, expected] = lines.splice(0, 2);
    if (sent?.dir !== "send" || expected?.dir !== "recv" || sent.http === undefined || expected.http === undefined) {
      throw new Error(`${transcript.meta.scenario}: not a request and an answer`);
    }
    const request = await Promise.all(sent.http.map((line) => context.bindings.fill(line)));
    const answer = await within(exchange(hostname, Number(port), request), `answer to ${request[0]}`);
    const different = answerDifference(expected.http, answer, context);
    if (different !== null) throw new Mismatch(`${show(sent.http)}: ${different}`);
  }
}

/** Sends a request without a body and reads the answer, in full unless it switches protocols. */
export async function exchange(hostname: string, port: number, request: readonly string[]): Promise<HttpAnswer> {
  using connection = await Deno.connect({ hostname, port });
  const bytes = new TextEncoder().encode(request.join("\r\n") + "\r\n\r\n");
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
  const buffer = new Uint8Array(16_384);
  let text = "";
  while (true) {
    const answer = parseAnswer(text, request[0]!.startsWith("HEAD "));
    if (answer !== null) return answer;
    const count = await connection.read(buffer);
    if (count === null) throw new Mismatch(`the connection ended after ${show(text)}`);
    text += String.fromCharCode(...buffer.subarray(0, count));
  }
}

function parseAnswer(text: string, withoutBody: boolean): HttpAnswer | null {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return null;
  const [status, ...headers] = text.slice(0, end).split("\r\n");
  const length = headers.map((line) => /^content-length: *(\d+)$/i.exec(line)?.[1]).find((value) =>
    value !== undefined
  );
  const body = text.slice(end + 4);
  if (!withoutBody && body.length < Number(length ?? 0)) return null;
  return { status: status!, headers, body };
}

/** Names, and values that are tokens, compare without regard to case; the order of headers does not matter. */
function answerDifference(expected: HttpAnswer, actual: HttpAnswer, { rules }: MatchContext): string | null {
  const ignored = ["date", ...(rules.allows("responseHeaders") ? ["vary"] : [])];
  const normal = ({ status, headers, body }: HttpAnswer) =>
    show({ status, headers: headers.map(normalHeader).filter(([name]) => !ignored.includes(name!)).sort(), body });
  const [wanted, found] = [normal(expected), normal(actual)];
  return wanted === found ? null : `expected ${wanted}, got ${found}`;
}

function normalHeader(line: string): string[] {
  const colon = line.indexOf(":");
  const name = line.slice(0, colon).toLowerCase();
  const value = line.slice(colon + 1).trim();
  return [name, name === "connection" || name === "upgrade" ? value.toLowerCase() : value];
}
