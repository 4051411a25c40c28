import assert from "node:assert/strict";
import { ExecError } from "../../lib/errors.ts";
import { parseJson, toWellFormedJson } from "../../lib/json.ts";
import {
  type NotificationName,
  NOTIFICATIONS,
  type RequestName,
  REQUESTS,
  SERVER_REQUESTS,
} from "../../lib/protocol/methods.ts";
import type { Codec } from "../../lib/codec.ts";
import { readCases } from "../support/cases.ts";

/** Parameters that decode, and what becomes of them. */
interface Example {
  readonly method: RequestName;
  readonly example: unknown;
}
/** Where in the example (names and places, joined by `/`), what stands there instead, and the refusal, if any. */
type Variation = readonly [path: string, json: string, refusal: string | null];

function refusalOf(method: RequestName, params: string): string | null {
  try {
    REQUESTS[method].params.decode(parseJson(params));
    return null;
  } catch (error) {
    assert(error instanceof ExecError && error.kind === "invalidParams", `${method} ${params}: ${error}`);
    return error.message;
  }
}

function varied(example: unknown, path: string, json: string): string {
  if (path === "") return json;
  const hole = crypto.randomUUID();
  const copy = structuredClone(example) as Record<string, unknown>;
  const steps = path.split("/");
  const last = steps.pop() as string;
  const parent = steps.reduce((node, step) => node[step] as Record<string, unknown>, copy);
  parent[last] = hole;
  return JSON.stringify(copy).replace(`"${hole}"`, () => json);
}

Deno.test("parameters decode, or are refused in the reference's words, member by member", () => {
  let current: Example | undefined;
  for (const line of readCases<Example | Variation>("params_cases.jsonl", import.meta.url)) {
    if ("method" in line) {
      current = line;
      continue;
    }
    assert(current !== undefined);
    const params = varied(current.example, line[0], line[1]);
    assert.equal(refusalOf(current.method, params), line[2], `${current.method} ${params}`);
  }
});

Deno.test("several defects: the first bad member in the order sent, missing ones only when all others are good", () => {
  assert.equal(refusalOf("process/read", '{"waitMs":"x","afterSeq":-1}'), 'invalid type: string "x", expected u64');
  assert.equal(refusalOf("process/read", '{"afterSeq":-1,"waitMs":"x"}'), "invalid number");
  assert.equal(refusalOf("process/read", '{"afterSeq":1}'), "missing field `processId`");
  assert.equal(refusalOf("process/start", '{"env":{}}'), "missing field `processId`");
  assert.equal(refusalOf("process/start", '{"env":[],"processId":5}'), "invalid type: sequence, expected a map");
});

Deno.test("names that every object has are ordinary names", () => {
  assert.equal(refusalOf("process/terminate", '{"__proto__":1,"constructor":2,"toString":3,"processId":"p"}'), null);
  const params = `{"processId":"p","argv":[],"cwd":"file:///","env":{"__proto__":"a","constructor":"b"},"tty":false}`;
  const { env } = REQUESTS["process/start"].params.decode(parseJson(params));
  assert.deepEqual([...env], [["__proto__", "a"], ["constructor", "b"]]);
});

Deno.test("an absent writeId is taken, against the reference's habit, but null is not", () => {
  const { decode } = REQUESTS["process/write"].params;
  assert.equal(decode(parseJson('{"processId":"p","chunk":""}')).writeId, null);
  assert.equal(decode(parseJson('{"processId":"p","chunk":"","writeId":""}')).writeId, "");
  assert.equal(
    refusalOf("process/write", '{"processId":"p","chunk":"","writeId":null}'),
    "invalid type: null, expected a string",
  );
});

Deno.test("absent optional members have their defaults", () => {
  const decode = <M extends RequestName>(method: M, params: string) =>
    REQUESTS[method].params.decode(parseJson(params));
  assert.deepEqual(decode("process/read", '{"processId":"p"}'), {
    processId: "p",
    afterSeq: 0,
    maxBytes: null,
    waitMs: 0,
  });
  const start = decode("process/start", '{"processId":"p","argv":["a"],"cwd":"file:///","env":{},"tty":true}');
  assert.deepEqual({ ...start, cwd: null, env: null }, {
    processId: "p",
    metadata: null,
    argv: ["a"],
    cwd: null,
    envPolicy: null,
    shellSnapshot: null,
    env: null,
    tty: true,
    pipeStdin: false,
    arg0: null,
    sandbox: null,
    enforceManagedNetwork: false,
    managedNetwork: null,
    networkProxy: null,
  });
  const remove = decode("fs/remove", '{"path":"file:///x","force":null}');
  assert.deepEqual({ ...remove, path: null }, {
    path: null,
    recursive: true,
    force: true,
    followSymlinks: true,
    sandbox: null,
  });
  const http = decode("http/request", '{"method":"GET","url":"u","requestId":"r"}');
  assert.deepEqual(http, {
    method: "GET",
    url: "u",
    headers: [],
    bodyBase64: null,
    timeoutMs: null,
    redirectPolicy: "follow",
    requestId: "r",
    streamResponse: false,
  });
});

Deno.test("what one side encodes the other decodes to the same", () => {
  for (const line of readCases<Example | Variation>("params_cases.jsonl", import.meta.url)) {
    if (!("method" in line)) continue;
    const codec: Codec<unknown> = REQUESTS[line.method].params as Codec<unknown>;
    const params = codec.decode(parseJson(JSON.stringify(line.example)));
    assert.deepEqual(codec.decode(parseJson(toWellFormedJson(codec.encode(params)))), params, line.method);
  }
});

/** Results and notifications as the reference sent them (texts and ids shortened). */
const RESULTS: readonly [RequestName, unknown][] = [
  ["environment/status", { status: "ready" }],
  ["process/start", { processId: "p", sandboxType: "none" }],
  ["process/read", {
    chunks: [{ seq: 1, stream: "stdout", chunk: "b2sK" }],
    nextSeq: 2,
    exited: true,
    exitCode: -1,
    closed: false,
    failure: null,
    sandboxDenied: false,
  }],
  ["process/write", { status: "unknownProcess" }],
  ["process/signal", {}],
  ["process/terminate", { running: true }],
  ["fs/readFile", { dataBase64: "aGVsbG8=" }],
  ["fs/open", { handleId: "h" }],
  ["fs/readBlock", { chunk: "", eof: true }],
  ["fs/getMetadata", {
    isDirectory: false,
    isFile: true,
    isSymlink: false,
    size: 2,
    createdAtMs: 0,
    modifiedAtMs: -315619200000,
  }],
  ["fs/canonicalize", { path: "file:///x" }],
  ["fs/readDirectory", { entries: [{ fileName: "a", isDirectory: true, isFile: false }] }],
  ["fs/walk", {
    entries: [{ path: "file:///x", kind: "directory" }],
    errors: [{ path: "file:///y", message: "No such file or directory (os error 2)" }],
    truncated: false,
  }],
  ["fs/watchMissing", { watching: true }],
  ["http/request", { status: 200, headers: [{ name: "a", value: "b" }], bodyBase64: "aGk=" }],
  ["environmentConfig/read", {
    userHomeDir: "file:///h",
    codexHomeDir: "file:///h/.codex",
    hostname: "n",
    config: { layers: [{ source: "user", baseDir: "file:///h", toml: "a = 1\n" }], cloudInsertionIndex: 0 },
    requirements: { layers: [], cloudInsertionIndex: 0 },
  }],
  ["capabilityRoots/discoverV1", {
    roots: [{
      id: "r",
      path: "file:///r",
      plugin: { manifest: { path: "file:///r/p", contents: "{}" }, mcpConfig: null, appsConfig: null },
      skills: [{ instructions: { path: "file:///r/s", contents: "s" }, metadata: null }],
      namespaceManifests: [],
      warnings: ["w"],
      error: null,
    }],
  }],
  ["capabilities/discoverV2", {
    plugins: [{
      id: "p@m",
      displayName: "P",
      remotePluginId: null,
      version: "1.0.0",
      root: "file:///p",
      files: { manifest: { path: "file:///p/x", contents: "{}" }, mcpConfig: null, appsConfig: null },
      skills: [{
        name: "p:s",
        description: "d",
        shortDescription: null,
        path: "file:///p/SKILL.md",
        dependencies: null,
        policy: null,
      }],
    }],
    skills: [{
      name: "s",
      description: "d",
      shortDescription: "d",
      path: "file:///s/SKILL.md",
      discoveryRoot: { id: "r", path: "file:///s" },
      dependencies: {
        tools: [{
          type: "t",
          value: "v",
          description: null,
          transport: null,
          command: null,
          url: null,
          oauthCallbackPort: 80,
        }],
      },
      policy: { allowImplicitInvocation: null, products: ["codex"] },
    }],
    warnings: ["w"],
  }],
];

Deno.test("results are decoded and encoded without loss", () => {
  for (const [method, result] of RESULTS) {
    const codec = REQUESTS[method].result as Codec<unknown>;
    const json = JSON.stringify(result);
    assert.deepEqual(JSON.parse(toWellFormedJson(codec.encode(codec.decode(parseJson(json))))), result, method);
  }
});

const EVENTS: readonly [NotificationName, unknown][] = [
  ["process/output", { processId: "p", seq: 1, stream: "pty", chunk: "b2sK" }],
  ["process/exited", { processId: "p", seq: 2, exitCode: 137, sandboxDenied: true }],
  ["process/closed", { processId: "p", seq: 3 }],
  ["http/request/bodyDelta", { requestId: "r", seq: 1, deltaBase64: "", done: true, error: null }],
  ["fs/missingChanged", { watchId: 7 }],
  ["network/policyDecision", {
    processId: "p",
    timestamp: "2026-01-01T00:00:00Z",
    scope: "domain",
    decision: "deny",
    source: "decider",
    reason: "nope",
    protocol: "http",
    host: "example.com",
    port: 80,
    method: "GET",
    policyOverride: false,
  }],
];

Deno.test("notifications are decoded and encoded without loss", () => {
  assert.deepEqual(EVENTS.map(([name]) => name), Object.keys(NOTIFICATIONS));
  for (const [name, params] of EVENTS) {
    const codec = NOTIFICATIONS[name] as Codec<unknown>;
    const json = JSON.stringify(params);
    assert.deepEqual(JSON.parse(toWellFormedJson(codec.encode(codec.decode(parseJson(json))))), params, name);
  }
});

Deno.test("the server's own request and its answers are decoded and encoded without loss", () => {
  const { params, result } = SERVER_REQUESTS["network/policyRequest"];
  const trip = (codec: Codec<unknown>, value: unknown) =>
    JSON.parse(toWellFormedJson(codec.encode(codec.decode(parseJson(JSON.stringify(value))))));
  const question = { processId: "p", request: { protocol: "https_connect", host: "example.com", port: 443 } };
  assert.deepEqual(trip(params as Codec<unknown>, question), question);
  for (const decision of [{ type: "allow" }, { type: "deny", reason: "no" }, { type: "ask", reason: "" }]) {
    assert.deepEqual(trip(result as Codec<unknown>, { decision }), { decision });
  }
});

Deno.test("control requests are those that must not wait behind ordinary ones", () => {
  const control = Object.entries(REQUESTS).filter(([, { control }]) => control).map(([name]) => name);
  assert.deepEqual(control, [
    "environment/info",
    "environment/status",
    "process/signal",
    "process/terminate",
    "fs/close",
    ...["resize", "signal", "holdOutput", "status", "list"].map((name) => `execServer/process/${name}`),
    ...["holdBody", "cancelBody"].map((name) => `execServer/http/${name}`),
    "execServer/session/lease",
  ]);
});

Deno.test("every method but initialize has the family that the handshake's refusals name", () => {
  const families = new Map<string, string>([
    ["process/", "exec"],
    ["execServer/process/", "exec"],
    ["execServer/http/", "http"],
    ["execServer/session/", "session"],
    ["fs/", "filesystem"],
    ["http/", "http"],
    ["environment/info", "environment info"],
    ["environment/status", "environment status"],
    ["environmentConfig/", "environment config"],
    ["capabilit", "capability discovery"],
  ]);
  for (const [name, { family }] of Object.entries(REQUESTS)) {
    const expected = [...families].find(([prefix]) => name.startsWith(prefix))?.[1] ?? "";
    assert.equal(family, expected, name);
  }
});
