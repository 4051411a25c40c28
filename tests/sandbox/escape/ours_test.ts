/**
 * Our server and the attempts. It has no sandbox yet and refuses, which is all that is held here; the attempts
 * themselves are to be made in its place as soon as it confines (`runSuite(OUR_COMMAND, user, confined(…))`).
 */
import assert from "node:assert/strict";
import { OUR_COMMAND } from "../../program/running_server.ts";
import { WireError } from "../../support/wire_client.ts";
import { POLICIES } from "../support/policies.ts";
import { SELF } from "../support/user.ts";
import { EscapeServer } from "../support/server.ts";
import { Place } from "../support/place.ts";

const ignore = Deno.build.os !== "linux";

Deno.test({
  name: "our server starts nothing in the sandboxes of the escape suite",
  ignore,
  async fn() {
    const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "exec-server-escape-" }));
    try {
      await using server = await EscapeServer.start(OUR_COMMAND, SELF, root);
      await using place = Place.create(root, SELF);
      for (const policy of POLICIES) {
        const started = server.run(["touch", "scratch/ran"], place.ws, policy.sandbox([place]));
        await assert.rejects(started, (error) => {
          assert.ok(error instanceof WireError);
          assert.equal(error.code, -32603);
          assert.equal((error.data as { kind?: unknown } | undefined)?.kind, "sandboxUnavailable", policy.name);
          return true;
        });
      }
      await assert.rejects(Deno.stat(`${place.ws}/scratch/ran`), Deno.errors.NotFound);
    } finally {
      await Deno.remove(root, { recursive: true });
    }
  },
});
