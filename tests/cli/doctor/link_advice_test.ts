import assert from "node:assert/strict";
import { linkAdvice } from "../../../lib/cli/doctor/link_advice.ts";
import { ok } from "../../../lib/cli/doctor/check.ts";
import { lookAtToken } from "../../../lib/cli/doctor/token.ts";
import {
  ClientError,
  connectError,
  connectTimeout,
  disconnected,
  initializeTimeout,
  jsonError,
  protocolError,
  serverError,
  spawnError,
} from "../../../lib/client/client_error.ts";
import { DialError } from "../../../lib/relay/socket/relay_socket.ts";

const URL = "ws://box:1";
const handshakeFailed = new ClientError(
  "disconnected",
  "Noise harness handshake failed before connection became ready",
);

function registryError(detail: string): ClientError {
  return new ClientError("registry", `environment registry ${detail}`);
}

const target = { kind: "url", url: URL } as const;

Deno.test("every way in which a connection fails has an advice of its own", () => {
  const cases = [
    [connectError(URL, "IO error: Connection refused (os error 111)"), /nobody listens there/],
    [connectError(URL, "IO error: failed to lookup address information"), /name is not known/],
    [connectTimeout(URL, 10_000), /no answer at all/],
    [connectError(URL, "HTTP error: 401 Unauthorized"), /wants a token/],
    [connectError(URL, "HTTP error: 403 Forbidden"), /refuses us/],
    [connectError(URL, "HTTP error: 404 Not Found"), /check port and path/],
    [connectError(URL, "HTTP error: 502 Bad Gateway"), /proxy/],
    [connectError(URL, "TLS error: invalid peer certificate"), /TLS handshake/],
    [connectError(URL, "WebSocket protocol error: Handshake not finished"), /does not speak WebSocket/],
    [protocolError("exec-server WebSocket headers require wss:// or a loopback destination"), /in the clear/],
    [initializeTimeout(10_000), /the server does not answer/],
    [disconnected(undefined, disconnected("failed to parse websocket JSON-RPC message from x: y")), /no exec-server/],
    [disconnected(undefined, disconnected(undefined, "closed by the peer with code 1008")), /does not want us/],
    [disconnected(undefined, disconnected(undefined, "end of input")), /ended at once/],
    [serverError(-32601, "unknown method"), /another kind of server/],
    [jsonError("missing field `sessionId`"), /another kind of server/],
    [spawnError("No such file"), /program and args of the environment/],
    [handshakeFailed, /executor does not let us in/],
    [registryError("authentication error: executor credentials rejected"), /executor's own credential/],
    [
      registryError("authentication error: environment registry authentication failed (401 Unauthorized): x"),
      /the token/,
    ],
    [registryError("request failed (409 Conflict, environment_offline): x"), /no executor is registered/],
    [registryError("request failed (404 Not Found): x"), /does not know this environment/],
    [registryError("request failed: route-aware request timed out"), /registry does not answer/],
    [registryError("configuration error: remote transport requires https for non-loopback endpoints"), /in the clear/],
    [registryError("configuration error: invalid remote endpoint URL: empty host"), /check the variables/],
    [
      connectError(URL, "HTTP error: 401 Unauthorized (expired)", new DialError("upgrade refused", 401, "expired")),
      /rendezvous/,
    ],
    [connectError(URL, "something new"), /another client/],
  ] as const;
  for (const [error, advice] of cases) assert.match(linkAdvice(error, target), advice);
  assert.match(linkAdvice(spawnError("No such file"), { kind: "embedded" }), /could not start itself/);
});

Deno.test("a port in the address is not taken for a status", () => {
  const refused = connectError("ws://box:4011", "IO error: Connection refused (os error 111)");
  assert.match(linkAdvice(refused, target), /nobody listens/);
  const odd = connectError("ws://box:4041/404", "IO error: something new");
  assert.match(linkAdvice(odd, target), /another client/);
});

Deno.test("the token of an environment is where the environment comes from", async () => {
  const environment = { kind: "environment", name: "remote" } as const;
  const env = (name: string) => name.startsWith("CODEX_EXEC_SERVER_NOISE_") ? "secret-token" : undefined;
  const registered = await lookAtToken(environment, { env });
  assert.deepEqual(registered, ok("from the variable CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN"));
  const configured = await lookAtToken(environment, { env: () => undefined });
  assert.deepEqual(configured, ok("none needed, or in environments.toml"));
});

Deno.test("a token from the variable is enough, and is not said", async () => {
  const env = (name: string) => name === "EXEC_SERVER_TOKEN" ? "secret-token" : undefined;
  const { status, detail } = await lookAtToken(target, { env });
  assert.equal(status, "ok");
  assert.doesNotMatch(detail, /secret/);
  assert.equal((await lookAtToken(target, { env: () => " " })).status, "note");
});
