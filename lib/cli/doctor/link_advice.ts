import type { ClientError } from "../../client/client_error.ts";
import { errorWords } from "../error_words.ts";
import { type ServerTarget, TOKEN_VARIABLE } from "../connection_options.ts";

/** Patterns of what the client says of a connection that did not come about → what to do. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [
    /requires https/,
    "the token never crosses a network in the clear: CODEX_EXEC_SERVER_NOISE_REGISTRY_URL has to be https://, or a tunnel " +
    "to this machine",
  ],
  [
    /registry configuration error/,
    "check the variables CODEX_EXEC_SERVER_NOISE_REGISTRY_URL, …_ENVIRONMENT_ID and …_AUTH_TOKEN",
  ],
  [
    /executor credentials rejected/,
    "the registry knows us, but does not take the executor's own credential any more: that machine needs another one",
  ],
  [
    /registry authentication error/,
    "the registry does not take the token, or not for this environment: CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN holds it",
  ],
  [/environment_offline/, "no executor is registered for this environment now: is exec-server --remote running there?"],
  [
    /registry request failed \(404/,
    "the registry does not know this environment: check CODEX_EXEC_SERVER_NOISE_ENVIRONMENT_ID and the registry's URL",
  ],
  [
    /registry request failed: /,
    "the registry does not answer: check CODEX_EXEC_SERVER_NOISE_REGISTRY_URL, and the network",
  ],
  [
    /Noise harness handshake failed/,
    "the rendezvous answers, but the executor does not let us in: is it running, and connected? Its log may say why",
  ],
  [
    /failed to lookup address|dns error/i,
    "the host's name is not known here: check its spelling, or name the address itself",
  ],
  [
    /connection refused/i,
    "nobody listens there: start the server (exec-server --listen ws://127.0.0.1:PORT) and use the address that it prints",
  ],
  [
    /network is unreachable|no route to host/i,
    "there is no way to that machine from here: check the network, or use a tunnel (ssh -L)",
  ],
  [
    /timed out connecting/i,
    "no answer at all: a firewall, a wrong port or a machine that is off; try it from the machine itself",
  ],
  [
    /HTTP error: 401/,
    `the server wants a token, or another one: --token-file <PATH> or the variable ${TOKEN_VARIABLE}, with what its ` +
    "--ws-token-file holds",
  ],
  [
    /HTTP error: 403/,
    "the server, or a proxy before it, refuses us: a proxy that adds the header Origin is one reason",
  ],
  [/HTTP error: 404/, "something else than an exec-server answers there: check port and path"],
  [/HTTP error: 5\d\d/, "a proxy answers, and the server behind it does not: is it running?"],
  [/HTTP error/, "something answers that is no WebSocket server: check port and path"],
  [
    /TLS error|certificate/i,
    "the TLS handshake failed: use ws:// if the server has no TLS, or have its certificate trusted here (DENO_CERT)",
  ],
  [/WebSocket protocol error/, "what listens there does not speak WebSocket: check port and scheme"],
  [
    /require wss:\/\/ or a loopback/i,
    "a token never crosses a network in the clear: use wss://, or a tunnel to this machine",
  ],
  [/failed to parse/i, "what answers there is no exec-server: check the address, or the program of the environment"],
  [/end of input/i, "the program of the environment ended at once: try it by hand with the args of environments.toml"],
  [/closed by the peer/i, "the server, or a proxy before it, does not want us; its log may say why"],
  [
    /initialize handshake/i,
    "the connection stands, but the server does not answer: is it an exec-server, and not overloaded?",
  ],
];

/** What to do about a connection that did not come about. */
export function linkAdvice(error: ClientError, target: ServerTarget): string {
  if (target.kind === "embedded") {
    return "the program could not start itself: is the file still where it was, and may it be executed?";
  }
  if (error.kind === "spawn") return "check program and args of the environment in environments.toml";
  // Of the relay: by its name, since nothing of the relay is loaded here.
  if (error.cause instanceof Error && error.cause.name === "DialError") {
    return "the registry has answered, but not the rendezvous that it names: is there a way to it from here, through a proxy?";
  }
  const words = errorWords(error);
  for (const [pattern, advice] of ADVICE) if (pattern.test(words)) return advice;
  if (error.kind === "server" || error.kind === "json") {
    return "what answers there is another kind of server, or one of another version: check the address";
  }
  return "try the same address with another client, or look at the server's log (--log-level debug)";
}
