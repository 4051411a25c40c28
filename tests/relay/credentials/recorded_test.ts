import assert from "node:assert/strict";
import { loadVectors } from "../vectors/load.ts";
import { World } from "./world_rig.ts";

/** What was put into the reference's standard input, partly in words, and what it did, in words. */
interface Recorded {
  readonly registration_bearer_stdin: readonly { readonly stdin: string; readonly result: string }[];
  readonly executor_credential_stdin: readonly { readonly frame: unknown; readonly result: string }[];
}

const recorded = loadVectors<Recorded>("credentials.json");

/** Standard input as a case describes it, and whether it has ended. */
function described(text: string): { readonly text: string; readonly ends: boolean } {
  if (text === "(nothing, pipe open)") return { text: "", ends: false };
  const bytes = /^(\d+) bytes \+ newline$/.exec(text)?.[1];
  if (bytes !== undefined) return { text: `${"a".repeat(Number(bytes))}\n`, ends: false };
  const ends = text.endsWith("then end of file");
  return { text: text.replace(/ ?then end of file$/, ""), ends };
}

Deno.test("each recorded bearer line of the reference is taken or refused as it was", async (t) => {
  for (const { stdin, result } of recorded.registration_bearer_stdin) {
    await t.step(JSON.stringify(stdin), async () => {
      const { text, ends } = described(stdin);
      await using world = await World.create(text);
      if (ends) world.stdin.close();
      const headers = world.headers({ kind: "bearerLine" });
      const refusal = /^exit 1: (.*)$/.exec(result)?.[1];
      const shown = /^Authorization: (Bearer \S+)/.exec(result)?.[1];
      if (refusal !== undefined) return await assert.rejects(headers, { name: "CredentialError", message: refusal });
      if (result.startsWith("waits")) {
        world.clock.advance(3_600_000);
        world.stdin.write("late\n");
        return assert.deepEqual(await headers, { authorization: "Bearer late" });
      }
      const { authorization } = await headers;
      if (shown !== undefined) assert.equal(authorization, shown);
      else assert.match(result, /^accepted/);
    });
  }
});

Deno.test("each recorded frame of a credential that stands in full is taken or refused as it was", async (t) => {
  const cases = recorded.executor_credential_stdin.filter(({ frame }) => typeof frame === "object");
  assert.equal(cases.length, 2);
  for (const { frame, result } of cases) {
    await t.step(result, async () => {
      await using world = await World.create();
      const now = world.nowMs / 1000;
      const text = JSON.stringify(frame).replace(/"NOW\+(\d+)[^"]*"/, (_, seconds) => String(now + Number(seconds)));
      world.stdin.write(`${text}\n`);
      world.stdin.close();
      const headers = world.headers({ kind: "executorCredential" });
      const refusal = /^exit 1: (.*)$/.exec(result)?.[1];
      if (refusal !== undefined) return await assert.rejects(headers, { name: "CredentialError", message: refusal });
      assert.deepEqual(await headers, { authorization: result.replace("Authorization: ", "") });
    });
  }
});
