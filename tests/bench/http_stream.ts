/** How much of a response gets through that is streamed. */
import { endWithUs } from "../support/end_with_us.ts";
import { bodyBytes } from "./payload.ts";
import { Bed, type Plan, sides } from "./plan.ts";

const MB = 1_000_000;

export async function measureHttpStream(plan: Plan): Promise<void> {
  if (!plan.wants("http-stream")) return;
  const { bigBytes, turns } = plan.files;
  await using source = await Source.start(bigBytes);
  for (const carrier of plan.carriers) {
    for (let turn = 0; turn < turns; turn++) {
      for (const [side, command] of sides(plan)) {
        plan.progress(`a streamed response over ${carrier}, ${side}, ${turn + 1} of ${turns}`);
        await using bed = await Bed.make(side, command, carrier);
        plan.samples.add("http-stream", carrier, side, bigBytes / MB / await stream(bed, source.url, bigBytes));
      }
    }
  }
}

/** Seconds from the request to the end of the body. */
async function stream(bed: Bed, url: string, bytes: number): Promise<number> {
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  let received = 0;
  bed.client.tap = (message) => {
    const count = bodyBytes(message);
    received += count ?? 0;
    return count !== null && count > 0;
  };
  bed.client.onNotification = (method, params) => {
    if (method !== "http/request/bodyDelta") return reject(new Error(`unexpected ${method}`));
    if (params["done"] !== true) return;
    if (params["error"] === null) resolve();
    else reject(new Error(`the response broke off: ${params["error"]}`));
  };
  const began = performance.now();
  const params = { requestId: "bench", method: "GET", url, streamResponse: true };
  const { status } = await bed.client.request<{ status: number }>("http/request", params);
  await bed.whileAlive(ended);
  const seconds = (performance.now() - began) / 1000;
  if (status !== 200 || received !== bytes) throw new Error(`status ${status}, ${received} bytes of ${bytes}`);
  return seconds;
}

/** `http_source.ts` in a process of its own. */
class Source implements AsyncDisposable {
  private constructor(readonly child: Deno.ChildProcess, readonly url: string) {}

  static async start(bytes: number): Promise<Source> {
    const program = new URL("./http_source.ts", import.meta.url).pathname;
    const args = ["run", "--no-config", "--allow-net", program, String(bytes)];
    const options = { args, stdin: "piped", stdout: "piped", stderr: "inherit" } as const;
    const child = endWithUs(new Deno.Command(Deno.execPath(), options).spawn());
    const reader = child.stdout.getReader();
    const { value, done } = await reader.read();
    reader.releaseLock();
    if (done) throw new Error("the source of the response ended before it said where it listens");
    return new Source(child, `http://127.0.0.1:${new TextDecoder().decode(value).trim()}/`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.child.stdin.close();
    await this.child.stdout.cancel();
    await this.child.status;
  }
}
