import assert from "node:assert/strict";
import { parseListenUrl } from "../../lib/cli/listen_url.ts";
import { UsageError } from "../../lib/cli/usage_error.ts";

function expectFailure(url: string, sentence: string): void {
  assert.throws(() => parseListenUrl(url), new UsageError(1, `Error: ${sentence}`), url);
}

Deno.test("parseListenUrl takes addresses, not names", () => {
  const cases: [string, string, number][] = [
    ["ws://[::1]:0", "::1", 0],
    ["ws://[0:0:0:0:0:0:0:1]:00443", "0:0:0:0:0:0:0:1", 443],
    ["ws://[::ffff:127.0.0.1]:65535", "::ffff:127.0.0.1", 65535],
  ];
  for (const [url, hostname, port] of cases) {
    assert.deepEqual(parseListenUrl(url), { kind: "websocket", hostname, port });
  }
  const bad = [
    "ws://",
    "ws://localhost:0",
    "ws://127.0.0.1",
    "ws://127.0.0.1:",
    "ws://127.0.0.1:65536",
    "ws://127.0.0.1:+0",
    "ws://127.0.0.1:0/",
    "ws://127.0.0.1:0 ",
    "ws:// 127.0.0.1:0",
    "ws://127.1:0",
    "ws://127.000.0.1:0",
    "ws://127.0.0.256:0",
    "ws://0x7f.0.0.1:0",
    "ws://::1:0",
    "ws://[127.0.0.1]:0",
    "ws://[00001::]:0",
    "ws://[::1%lo]:0",
  ];
  for (const url of bad) {
    expectFailure(url, `invalid websocket --listen URL \`${url}\`; expected \`ws://IP:PORT\``);
  }
});

Deno.test("parseListenUrl takes stdio and no other scheme", () => {
  for (const url of ["stdio", "stdio://"]) assert.deepEqual(parseListenUrl(url), { kind: "stdio" });
  for (
    const url of ["", "-", "STDIO", "stdio:", "stdio://x", "WS://127.0.0.1:0", " ws://127.0.0.1:0", "http://[::1]:0"]
  ) {
    expectFailure(url, `unsupported --listen URL \`${url}\`; expected \`ws://IP:PORT\` or \`stdio\``);
  }
});
