/** What becomes of sandboxes on machines that lack what makes them: the next back end, or a refusal that says what is missing. */
import assert from "node:assert/strict";
import { OUR_COMMAND } from "../../program/running_server.ts";
import { WireError } from "../../support/wire_client.ts";
import { backEndMissing } from "../support/back_ends.ts";
import { Place } from "../support/place.ts";
import { OFFLINE, type Policy, READ_ONLY, WORKSPACE } from "../support/policies.ts";
import { EscapeServer } from "../support/server.ts";
import { SELF } from "../support/user.ts";
import { withNamespacesUsedUp, withoutLandlock, withoutNamespaces, withoutProgram } from "./lacking.ts";

const missing = (await Promise.all(
  (["bubblewrap", "unshare", "landlock"] as const).map((backEnd) => backEndMissing(backEnd, SELF)),
)).find((reason) => reason !== undefined);
const ignore = missing !== undefined;
if (ignore) console.log(`skipped: what happens where something is missing (${missing})`);

/** Says who is process 1, and what could be done. */
const PROGRAM =
  'cat /proc/1/comm; echo x 2>/dev/null >"$1/out/victim" && echo out; echo x 2>/dev/null >scratch/file && echo in';

type Held = "bubblewrap" | "unshare" | "landlock" | "refused";

/** A server on a machine that lacks something, and a place to try it on. */
class Bed implements AsyncDisposable {
  private constructor(
    readonly server: EscapeServer,
    readonly place: Place,
    readonly root: string,
  ) {}

  static async make(lacking: readonly string[], options: readonly string[] = []): Promise<Bed> {
    const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "exec-server-absence-" }));
    const command = [...lacking, ...OUR_COMMAND, ...options] as unknown as typeof OUR_COMMAND;
    return new Bed(await EscapeServer.start(command, SELF, root), Place.create(root, SELF), root);
  }

  /** What a program is held by in a sandbox. */
  async program(policy: Policy): Promise<Held | "filter"> {
    try {
      const { place, server } = this;
      const argv = ["sh", "-c", PROGRAM, "sh", place.directory];
      const { output } = await server.run(argv, place.ws, policy.sandbox([place]));
      const [first = "", ...could] = output.trim().split("\n");
      if (policy === OFFLINE) {
        assert.deepEqual(could, ["out", "in"]);
        return "filter";
      }
      assert.deepEqual(could, policy === WORKSPACE ? ["in"] : [], output);
      return first === "bwrap" ? "bubblewrap" : first === "sh" ? "unshare" : "landlock";
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      assert.equal(error.code, -32603);
      assert.equal((error.data as { kind?: unknown } | undefined)?.kind, "sandboxUnavailable", error.message);
      this.reasons.push(error.message);
      return "refused";
    }
  }

  readonly reasons: string[] = [];

  /** Whether a file can be read and written by requests in a sandbox: `read`, `written`, or the refusal. */
  async request(policy: Policy): Promise<string> {
    const { place, server } = this;
    const path = `file://${place.ws}/scratch/file`;
    const sandbox = policy.sandbox([place]);
    const text = `by a request in ${policy.name}\n`;
    const answer = await server.request("fs/writeFile", { path, dataBase64: btoa(text) }, sandbox);
    if (answer.startsWith("-32603 fs sandbox helper failed with status ")) return answer;
    const was = await server.request("fs/readFile", { path }, null);
    if (was === text) return "written";
    assert.match(answer, /Read-only file system|Permission denied/);
    return "denied";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    await this.place[Symbol.asyncDispose]();
    await Deno.remove(this.root, { recursive: true });
  }
}

function test(
  name: string,
  lacking: () => Promise<readonly string[]> | readonly string[],
  fn: (bed: Bed) => Promise<void>,
) {
  Deno.test({
    name,
    ignore,
    async fn() {
      await using bed = await Bed.make(await lacking());
      await fn(bed);
    },
  });
}

async function expect(bed: Bed, held: Readonly<Record<"workspace" | "readOnly", Held>>): Promise<void> {
  assert.equal(await bed.program(WORKSPACE), held.workspace);
  assert.equal(await bed.program(READ_ONLY), held.readOnly);
  // It needs nothing but a filter of system calls.
  assert.equal(await bed.program(OFFLINE), "filter");
  const refused = /^-32603 fs sandbox helper failed with status /;
  const [workspace, readOnly] = [await bed.request(WORKSPACE), await bed.request(READ_ONLY)];
  if (held.workspace === "refused") assert.match(workspace, refused);
  else assert.equal(workspace, "written");
  if (held.readOnly === "refused") assert.match(readOnly, refused);
  else assert.equal(readOnly, "denied");
}

test("where nothing is missing bubblewrap holds sandboxes", () => [], async (bed) => {
  await expect(bed, { workspace: "bubblewrap", readOnly: "bubblewrap" });
});

test("without bubblewrap unshare holds them", () => withoutProgram("bwrap"), async (bed) => {
  await expect(bed, { workspace: "unshare", readOnly: "unshare" });
});

test("without Landlock bubblewrap holds them", () => withoutLandlock, async (bed) => {
  await expect(bed, { workspace: "bubblewrap", readOnly: "bubblewrap" });
});

test("without bubblewrap and unshare Landlock holds what only grants, the rest is refused", async () => {
  return [...await withoutProgram("bwrap"), ...await withoutProgram("unshare")];
}, async (bed) => {
  await expect(bed, { workspace: "refused", readOnly: "landlock" });
});

for (
  const [what, lacking] of [["where user namespaces are refused", withoutNamespaces], [
    "where user namespaces are used up",
    withNamespacesUsedUp,
  ]] as const
) {
  test(`${what} Landlock holds what only grants, the rest is refused`, () => lacking, async (bed) => {
    await expect(bed, { workspace: "refused", readOnly: "landlock" });
    assert.match(bed.reasons[0]!, /^sandbox unavailable: bubblewrap: .*namespace.*; unshare: .*; landlock: /);
  });
}

test("with nothing at all nothing is started, and the reason names each", () => {
  return [...withoutLandlock, ...withoutNamespaces];
}, async (bed) => {
  await expect(bed, { workspace: "refused", readOnly: "refused" });
  for (const reason of bed.reasons) {
    assert.match(reason, /^sandbox unavailable: bubblewrap: .*; unshare: .*; landlock: .*Landlock/);
  }
});
