import assert from "node:assert/strict";
import { type Fate, TcpProxy } from "../client/support/tcp_proxy.ts";
import { testBothSides } from "./command_sides.ts";

/** Cuts the first three connections, each after some more of what the server says. */
function cutThrice(index: number): readonly Fate[] {
  return index < 3 ? [{ direction: "toClient", afterBytes: 4000 + 3000 * index, fault: { kind: "cut" } }] : [];
}

testBothSides("a link that breaks now and then costs exec nothing but time", async ({ user, server }) => {
  await using proxy = new TcpProxy(server.url, { admit: cutThrice });
  const script = "i=0; while [ $i -lt 60 ]; do seq $i $((i + 50)); i=$((i + 1)); sleep 0.01; done; exit 11";
  const { code, stdout, stderr } = await user.run(["exec", "--connect", proxy.url, "--", "sh", "-c", script]);
  assert.equal(code, 11);
  const expected = Array.from({ length: 60 }, (_, i) => Array.from({ length: 51 }, (_, j) => `${i + j}\n`).join(""))
    .join("");
  assert.equal(stdout, expected);
  const lost = "exec-server: the link to the server is lost; trying to get it back\n";
  const pair = `${lost}exec-server: the link to the server is back\n`;
  // A cut that comes before the link is back is a part of the same loss.
  assert.ok([1, 2, 3].some((times) => stderr === pair.repeat(times)), stderr);
  assert.equal(proxy.accepted, 4);
});

testBothSides("input arrives once over a link that breaks", async ({ user, server }) => {
  await using proxy = new TcpProxy(server.url, { admit: cutThrice });
  const lines = Array.from({ length: 300 }, (_, i) => `line ${i} ${"x".repeat(60)}\n`);
  const script = 'i=0; while [ $i -lt 300 ]; do read -r x; echo "$x"; i=$((i + 1)); done';
  const { code, stdout } = await user.run(["exec", "--connect", proxy.url, "--", "sh", "-c", script], {
    input: lines.join(""),
  });
  assert.equal(code, 0);
  assert.equal(stdout, lines.join(""));
  assert.ok(proxy.accepted > 1);
});
