import assert from "node:assert/strict";
import { parseJson, plainJson, toWellFormedJson } from "../../lib/json.ts";
import { initializeResult } from "../../lib/protocol/session.ts";

const ENVIRONMENT_INFO = {
  shell: { name: "bash", path: "/bin/bash" },
  executorVersion: "0.171.0",
  providerId: "sha256:00",
  cwd: "file:///w",
  userHomeDir: "file:///h",
  platformOs: "linux",
  prependPathDirs: ["file:///p"],
  temporaryDirectories: [],
  tempDir: "file:///tmp",
  capabilities: { fsWatchMissing: true, windowsMxc: false, someFutureThing: true },
};

function roundTrip(result: unknown): unknown {
  const decoded = initializeResult.decode(parseJson(JSON.stringify(result)));
  return plainJson(parseJson(toWellFormedJson(initializeResult.encode(decoded))));
}

Deno.test("the reference's answer to initialize passes through unchanged, capabilities of the future included", () => {
  const answer = { sessionId: "s", environmentInfo: ENVIRONMENT_INFO };
  assert.deepEqual(roundTrip(answer), answer);
});

Deno.test("our own version travels in a member of its own", () => {
  const info = { ...ENVIRONMENT_INFO, serverInfo: { name: "exec-server", version: "0.1.0" } };
  assert.deepEqual(roundTrip({ sessionId: "s", environmentInfo: info }), { sessionId: "s", environmentInfo: info });
});

Deno.test("answers of older servers decode with what may be supposed of them", () => {
  assert.deepEqual(initializeResult.decode(parseJson("{}")), { sessionId: "", environmentInfo: null });
  const shell = ENVIRONMENT_INFO.shell;
  const { environmentInfo } = initializeResult.decode(
    parseJson(JSON.stringify({ sessionId: "s", environmentInfo: { shell } })),
  );
  assert.deepEqual(environmentInfo, {
    shell,
    executorVersion: "0.0.0",
    serverInfo: null,
    providerId: null,
    cwd: null,
    userHomeDir: null,
    platformOs: null,
    prependPathDirs: [],
    temporaryDirectories: null,
    tempDir: null,
    capabilities: {},
  });
});
