/** A long HTTP body through the real server: to its client whole, and in little memory. */
import assert from "node:assert/strict";
import { residentBytes } from "./proc.ts";
import { RunningServer } from "./running_server.ts";

const BLOCK = new Uint8Array(1024 * 1024).map((_, at) => at % 251);
/**
 * How much the server may grow over what it takes with a body of {@linkcode WARM_UP_BYTES}, in bytes: the runtime does
 * not give back at once what is no longer used. Measured: 18 to 43 MB, for 200 MB as for 1 GB.
 */
const GROWTH_LIMIT_BYTES = 100 * 1024 * 1024;
const WARM_UP_BYTES = 64 * BLOCK.length;

/**
 * Streams a body of so many bytes, a multiple of a megabyte.
 *
 * @throws {Error} If bytes are missing, out of order or wrong, or if the server's memory grew with the body.
 */
export async function streamBody(bytes: number): Promise<void> {
  await using server = await RunningServer.start();
  await using client = await server.connect();
  await client.initialize();
  await using peer = new LongAnswers();
  const stream = async (length: number): Promise<number> => {
    let most = 0;
    const received = new Received();
    client.tap = (message) => {
      const whole = received.take(message);
      if (received.seq % 64 === 0) most = Math.max(most, residentBytes(server.pid));
      return whole;
    };
    const { status } = await client.request<{ status: number }>("http/request", {
      requestId: "long",
      method: "GET",
      url: `${peer.url}/${length}`,
      streamResponse: true,
    });
    assert.equal(status, 200);
    await received.ended;
    assert.equal(received.length, length);
    return most;
  };
  const small = await stream(WARM_UP_BYTES);
  const large = await stream(bytes);
  assert.ok(large - small < GROWTH_LIMIT_BYTES, `the server grew from ${small} to ${large} bytes`);
}

/** Checks the deltas of one stream as they come. */
class Received {
  length = 0;
  seq = 0;
  readonly #end = Promise.withResolvers<void>();

  get ended(): Promise<void> {
    return this.#end.promise;
  }

  /** Whether this was a delta. */
  take(message: string): boolean {
    const [, seq, base64, done, error] =
      /^\{"method":"http\/request\/bodyDelta","params":\{"requestId":"long","seq":(\d+),"deltaBase64":"([^"]*)","done":(true|false),"error":([^}]*)\}\}$/
        .exec(message) ?? [];
    if (base64 === undefined) return false;
    const bytes = Uint8Array.fromBase64(base64);
    // The first byte of each delta and the last: a delta that is missing or doubled shifts all that follow.
    const right = bytes.length === 0 ||
      (bytes[0] === BLOCK[this.length % BLOCK.length] &&
        bytes.at(-1) === BLOCK[(this.length + bytes.length - 1) % BLOCK.length]);
    if (Number(seq) !== ++this.seq || !right || error !== "null") {
      this.#end.reject(new Error(`delta ${this.seq} is not what was sent: ${message.slice(0, 100)}`));
    }
    this.length += bytes.length;
    if (done === "true") this.#end.resolve();
    return true;
  }
}

/** An HTTP peer that answers `GET /N` with N bytes, as fast as they are taken. */
class LongAnswers implements AsyncDisposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #served = this.#serve();

  get url(): string {
    return `http://127.0.0.1:${(this.#listener.addr as Deno.NetAddr).port}`;
  }

  async #serve(): Promise<void> {
    for (;;) {
      let conn: Deno.Conn;
      try {
        conn = await this.#listener.accept();
      } catch (error) {
        if (error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted) return;
        throw error;
      }
      using _conn = conn;
      const request = new Uint8Array(4096);
      const read = await conn.read(request);
      const length = Number(/^GET \/(\d+) /.exec(new TextDecoder().decode(request.subarray(0, read ?? 0)))![1]);
      const head = `HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${length}\r\n\r\n`;
      await writeAll(conn, new TextEncoder().encode(head));
      for (let sent = 0; sent < length; sent += BLOCK.length) await writeAll(conn, BLOCK);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    await this.#served;
  }
}

async function writeAll(conn: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let rest = bytes; rest.length > 0;) rest = rest.subarray(await conn.write(rest));
}
