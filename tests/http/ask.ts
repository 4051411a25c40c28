/** Short ways to ask an HTTP peer in a test. */
import assert from "node:assert/strict";
import { systemClock } from "../../lib/clock.ts";
import { bytesToText, textToBytes } from "../../lib/http/bytes.ts";
import { HttpClient } from "../../lib/http/client.ts";
import type { HttpResponse } from "../../lib/http/exchange.ts";
import { HttpFailure } from "../../lib/http/failure.ts";
import { HeaderMap } from "../../lib/http/header_map.ts";
import type { HttpRequest } from "../../lib/http/request_head.ts";

// What the first request over TLS loads stays loaded; no test is to be blamed for that.
if (Deno.build.os === "linux") await import("../../lib/linux/tcp.ts");

export function client(variables: Readonly<Record<string, string>> = {}, clock = systemClock): HttpClient {
  const environment = new Map(Object.entries(variables));
  return new HttpClient({ clock, environment: () => environment });
}

export function request(url: string, options: { method?: string; headers?: [string, string][]; body?: string } = {}) {
  return {
    method: options.method ?? "GET",
    url: new URL(url),
    headers: HeaderMap.from(options.headers ?? []),
    body: textToBytes(options.body ?? ""),
  } satisfies HttpRequest;
}

/** Asks and reads the whole body, each byte one character. */
export async function ask(
  client: HttpClient,
  asked: HttpRequest,
  redirects: "follow" | "stop" = "follow",
  signal: AbortSignal = new AbortController().signal,
): Promise<{ status: number; headers: string[]; body: string }> {
  const { status, headers, body } = await client.send(asked, redirects, signal);
  return { status, headers: [...headers].map(([name, value]) => `${name}: ${value}`), body: await wholeText(body) };
}

export async function wholeText(body: HttpResponse["body"]): Promise<string> {
  let text = "";
  for (let piece; (piece = await body.read()) !== null;) text += bytesToText(piece);
  return text;
}

/** What a request fails with. */
export async function failure(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof HttpFailure) return `${error.stage}: ${error.message}`;
    throw error;
  }
  assert.fail("nothing failed");
}
