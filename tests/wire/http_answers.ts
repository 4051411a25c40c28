/** What the HTTP peer of the recordings answers: by path, or as a recording of the real client shows. */
import type { Answerer, PeerAnswer, PeerRequest } from "./http_peer.ts";
import type { Transcript } from "./lines.ts";
import { isObject } from "./match.ts";
import { Mismatch } from "./mismatch.ts";

/** Header names in mixed case, since the server under test has to make them small. */
const PLAIN = ["Content-Type: text/plain", "X-A: 1", "x-a: 2"];

type PathAnswer = (query: URLSearchParams) => PeerAnswer | Promise<PeerAnswer>;

const PATHS: Readonly<Record<string, PathAnswer>> = {
  "/ok": () => whole("200 OK", PLAIN, "hello"),
  "/404": () => whole("404 Not Found", [], "nope"),
  "/500": () => whole("500 Internal Server Error", [], "err!"),
  "/204": () => ({ steps: [head("204 No Content", [])] }),
  "/binhdr": () => whole("200 OK", ["X-Bin: caf\xe9", "X-Ok: fine"], "\x00\xff\x80"),
  "/setcookie": () => whole("200 OK", ["Set-Cookie: a=1", "Set-Cookie: b=2"], ""),
  "/gzip": async () => whole("200 OK", ["Content-Encoding: gzip"], await gzip("hello gzip")),
  "/hop": () => {
    const headers = ["Connection: keep-alive", "Keep-Alive: timeout=5", "Transfer-Encoding: chunked", "Trailer: X-T"];
    return { steps: [head("200 OK", headers), chunk("hi"), "0\r\nX-T: 1\r\n\r\n"] };
  },
  "/redir": (query) => whole(`${query.get("c") ?? 302} Redirect`, ["Location: /ok"], "red"),
  "/redirloop": () => whole("302 Found", ["Location: /redirloop"], ""),
  "/redirftp": () => whole("302 Found", ["Location: ftp://127.0.0.1/x"], ""),
  "/redirbad": () => whole("302 Found", [], ""),
  "/chunks": (query) => {
    const pieces = [0, 1, 2, 3].flatMap((i) => [Number(query.get("n")), chunk(`c${i}\n`)]);
    return { steps: [head("200 OK", ["Transfer-Encoding: chunked"]), ...pieces, "0\r\n\r\n"] };
  },
  "/abort": () => ({ steps: [head("200 OK", ["Content-Length: 100"]), "partial"], close: true }),
  "/abortchunk": () => ({ steps: [head("200 OK", ["Transfer-Encoding: chunked"]), chunk("hello")], close: true }),
  "/slowbody": (query) => ({ steps: [head("200 OK", ["Content-Length: 4"]), "ab", Number(query.get("n")), "cd"] }),
  "/slowhdr": (query) => ({ steps: [Number(query.get("n")), head("200 OK", ["Content-Length: 0"])] }),
  "/drop": () => ({ steps: [], close: true }),
  "/garbage": () => ({ steps: ["this is no HTTP\r\n\r\n"], close: true }),
};

/** Answers for the recordings of `http/request`. To a proxy the whole URL is sent. */
export const answerByPath: Answerer = async (request) => {
  const [method, target] = request.head[0]!.split(" ");
  const { pathname, searchParams } = new URL(target!, "http://peer");
  const answer = PATHS[pathname] ?? (() => whole("200 OK", [], "default"));
  const { steps, ...rest } = await answer(searchParams);
  return method === "HEAD" ? { steps: steps.slice(0, 1), ...rest } : { steps, ...rest };
};

/** Answers as a recording shows them, each to a request with the same method and body. */
export function answersOf({ meta, lines }: Transcript): Answerer {
  const ids = new Map<unknown, { readonly key: string; readonly requestId: unknown }>();
  const answers = new Map<string, PeerAnswer>();
  const bodies = new Map<unknown, string>();
  for (const line of lines) {
    const message = line.dir === "send" || line.dir === "recv" ? line.msg : null;
    if (!isObject(message)) continue;
    const params = isObject(message["params"]) ? message["params"] : {};
    if (line.dir === "send" && message["method"] === "http/request") {
      const key = `${params["method"]} ${params["bodyBase64"] ?? ""}`;
      ids.set(message["id"], { key, requestId: params["requestId"] });
    } else if (message["method"] === "http/request/bodyDelta") {
      bodies.set(params["requestId"], (bodies.get(params["requestId"]) ?? "") + atob(String(params["deltaBase64"])));
    }
  }
  for (const line of lines) {
    const message = line.dir === "recv" ? line.msg : null;
    if (!isObject(message) || !isObject(message["result"])) continue;
    const sent = ids.get(message["id"]);
    if (sent === undefined) continue;
    const { status, headers, bodyBase64 } = message["result"] as {
      status: number;
      headers: readonly { name: string; value: string }[];
      bodyBase64: string;
    };
    const lines = headers.map(({ name, value }) => `${name}: ${value}`);
    const body = bodies.get(sent.requestId) ?? atob(bodyBase64);
    answers.set(sent.key, { steps: [head(`${status} Recorded`, lines), body] });
  }
  return (request: PeerRequest) => {
    const answer = answers.get(`${request.head[0]!.split(" ")[0]} ${btoa(request.body)}`);
    if (answer === undefined) {
      throw new Mismatch(`${meta.scenario}: no answer to ${JSON.stringify(request)} is recorded`);
    }
    return answer;
  };
}

function whole(status: string, headers: readonly string[], body: string): PeerAnswer {
  return { steps: [head(status, [...headers, `Content-Length: ${body.length}`]), body] };
}

function head(status: string, headers: readonly string[]): string {
  return [`HTTP/1.1 ${status}`, ...headers, "\r\n"].join("\r\n");
}

function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

async function gzip(text: string): Promise<string> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return Array.from(await new Response(stream).bytes(), (byte) => String.fromCharCode(byte)).join("");
}
