/** An HTTP peer whose every byte is the test's: it shows what came as it came, and can say what no server would. */

import { bytesToText, textToBytes } from "../../lib/http/bytes.ts";

/** One request as it was on the wire. */
export interface SeenRequest {
  /** Connections are numbered from 1, in the order in which they were opened. */
  readonly connection: number;
  /** The lines of the head, the first one included; each character is one byte. */
  readonly head: readonly string[];
  /** What followed: as many bytes as `content-length` says, or the chunks as they came. */
  readonly body: string;
}

/** What a test answers with. */
export interface Answering {
  readonly request: SeenRequest;
  /** `path?query` of the request. */
  readonly path: string;
  /** Writes; each character is one byte. */
  send(text: string): Promise<void>;
  write(bytes: Uint8Array): Promise<void>;
  /** Ends the connection at once. */
  end(): void;
  /** Resolves when the other side ends the connection. What it still says is lost. */
  hungUp(): Promise<void>;
}

/** May return `close`: then the connection ends behind the answer. */
export type Answer = (answering: Answering) => Promise<"close" | undefined | void>;

export class RawPeer implements AsyncDisposable {
  /** Complete requests, in the order of their arrival. */
  readonly seen: SeenRequest[] = [];
  /** How many connections were opened. */
  connections = 0;
  readonly port: number;
  readonly #listener: Deno.Listener;
  readonly #answer: Answer;
  readonly #open = new Set<Deno.Conn>();
  readonly #conversations: Promise<void>[] = [];
  readonly #accepting: Promise<void>;

  constructor(answer: Answer, listener: Deno.Listener = Deno.listen({ hostname: "127.0.0.1", port: 0 })) {
    this.#answer = answer;
    this.#listener = listener;
    this.port = (listener.addr as Deno.NetAddr).port;
    this.#accepting = this.#accept();
  }

  /** A peer that says the same to everybody. */
  static saying(text: string, then?: "close"): RawPeer {
    return new RawPeer(async ({ send }) => {
      await send(text);
      return then;
    });
  }

  /** A peer that has one answer for each path. */
  static withPaths(answers: Readonly<Record<string, string>>): RawPeer {
    return new RawPeer(async ({ path, send }) => await send(answers[path] ?? `${response("404 Not Found")}`));
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The heads of all requests so far, without the lines that every request has. */
  get heads(): string[][] {
    const usual = ["accept: */*", "accept-encoding: zstd,gzip", `host: 127.0.0.1:${this.port}`];
    return this.seen.map(({ head }) => head.filter((line) => !usual.includes(line)));
  }

  /** Resolves when every connection so far has ended, at this end as well. */
  async quiet(): Promise<void> {
    await Promise.all(this.#conversations);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const conn of this.#open) close(conn);
    await this.#accepting;
    await this.quiet();
  }

  async #accept(): Promise<void> {
    for (;;) {
      try {
        const conn = await this.#listener.accept();
        this.#conversations.push(this.#converse(conn, ++this.connections));
      } catch (error) {
        if (error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted) return;
        // With TLS the handshake of one connection may have failed.
        if (!(error instanceof Deno.errors.InvalidData || error instanceof Deno.errors.UnexpectedEof)) throw error;
      }
    }
  }

  async #converse(conn: Deno.Conn, connection: number): Promise<void> {
    this.#open.add(conn);
    const input = new Input(conn);
    try {
      for (let request; (request = await input.request(connection)) !== undefined;) {
        this.seen.push(request);
        const write = async (bytes: Uint8Array) => {
          for (let rest = bytes; rest.length > 0;) rest = rest.subarray(await conn.write(rest));
        };
        const end = await this.#answer({
          request,
          path: request.head[0]!.split(" ")[1]!,
          send: (text) => write(textToBytes(text)),
          write,
          end: () => close(conn),
          hungUp: () => input.end(),
        });
        if (end === "close") break;
      }
    } catch (error) {
      // The other side, or the end of the test, has ended the connection.
      if (!isEndOfConnection(error)) throw error;
    } finally {
      this.#open.delete(conn);
      close(conn);
    }
  }
}

/** A whole response of which the headers are the ones given and `content-length`. */
export function response(status: string, body = "", ...headers: string[]): string {
  return `HTTP/1.1 ${[status, ...headers].join("\r\n")}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

class Input {
  #text = "";
  readonly #conn: Deno.Conn;

  constructor(conn: Deno.Conn) {
    this.#conn = conn;
  }

  /** Undefined: the connection has ended. */
  async request(connection: number): Promise<SeenRequest | undefined> {
    const head = await this.#until("\r\n\r\n");
    if (head === undefined) return undefined;
    const lines = head.slice(0, -4).split("\r\n");
    const value = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
    const body = value("transfer-encoding") !== undefined
      ? await this.#until("0\r\n\r\n")
      : await this.#take(Number(value("content-length") ?? 0));
    return body === undefined ? undefined : { connection, head: lines, body };
  }

  async end(): Promise<void> {
    try {
      while (await this.#more());
    } catch (error) {
      if (!isEndOfConnection(error)) throw error;
    }
  }

  async #until(mark: string): Promise<string | undefined> {
    while (!this.#text.includes(mark)) if (!await this.#more()) return undefined;
    return await this.#take(this.#text.indexOf(mark) + mark.length);
  }

  async #take(length: number): Promise<string | undefined> {
    while (this.#text.length < length) if (!await this.#more()) return undefined;
    const taken = this.#text.slice(0, length);
    this.#text = this.#text.slice(length);
    return taken;
  }

  async #more(): Promise<boolean> {
    const buffer = new Uint8Array(65_536);
    const length = await this.#conn.read(buffer);
    this.#text += bytesToText(buffer.subarray(0, length ?? 0));
    return length !== null;
  }
}

function close(conn: Deno.Conn): void {
  try {
    conn.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}

function isEndOfConnection(error: unknown): boolean {
  const { BadResource, Interrupted, ConnectionReset, BrokenPipe, UnexpectedEof, InvalidData } = Deno.errors;
  return [BadResource, Interrupted, ConnectionReset, BrokenPipe, UnexpectedEof, InvalidData].some((kind) =>
    error instanceof kind
  );
}
