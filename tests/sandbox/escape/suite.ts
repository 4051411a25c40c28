/** Makes attempts and looks from outside at what came of them. */
import type { Members } from "../../support/wire_client.ts";
import { Bystander } from "../support/bystander.ts";
import { Place } from "../support/place.ts";
import type { Policy } from "../support/policies.ts";
import type { EscapeServer } from "../support/server.ts";
import type { User } from "../support/user.ts";
import type { Attempt } from "./attempt.ts";
import { type Program, runPrograms } from "./programs.ts";

/** Sandboxes at once: they mostly wait for processes to start. */
const AT_ONCE = 4;

export interface Outcome {
  readonly attempt: Attempt;
  /** Null: nothing was confined. */
  readonly policy: Policy | null;
  /** What came of it that no sandbox allows; empty: it failed, as it has to. */
  readonly escaped: readonly string[];
  /** Why it says nothing at all: the program did not run as it should. Undefined: it did. */
  readonly unclear: string | undefined;
  /** All that the program and the requests said, for the report. */
  readonly said: string;
}

export interface Setting {
  readonly server: EscapeServer;
  readonly user: User;
  /** A directory of the suite that the user can enter. */
  readonly root: string;
  /** Most attempts that share a sandbox, each with a place of its own. */
  readonly together: number;
}

/** One attempt in one sandbox, or in none. */
export interface Try {
  readonly attempt: Attempt;
  readonly policy: Policy | null;
}

/** Makes all of them, several at once, in any order. */
export async function makeAttempts(tries: readonly Try[], setting: Setting): Promise<Outcome[]> {
  const left = batches(tries, setting.together);
  const outcomes: Outcome[] = [];
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      outcomes.push(...await makeBatch(next, setting));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return outcomes;
}

/** What shares a sandbox: attempts with the same policy, except those in which the client has a part. */
function batches(tries: readonly Try[], together: number): Try[][] {
  const isAlone = ({ attempt }: Try) => attempt.meanwhile !== undefined;
  const shared = Map.groupBy(tries.filter((one) => !isAlone(one)), ({ policy }) => policy);
  return [
    ...tries.filter(isAlone).map((one) => [one]),
    ...[...shared.values()].flatMap((same) =>
      Array.from(
        { length: Math.ceil(same.length / together) },
        (_, index) => same.slice(index * together, (index + 1) * together),
      )
    ),
  ];
}

async function makeBatch(tries: readonly Try[], setting: Setting): Promise<Outcome[]> {
  await using stack = new AsyncDisposableStack();
  const prepared = await Promise.all(tries.map(async (one) => await Scene.prepare(one, setting, stack)));
  const places = prepared.map(({ place }) => place);
  await Place.remember(places);
  const policy = tries[0]!.policy;
  const sandbox = policy?.sandbox(places) ?? null;
  const withScript = prepared.filter(({ attempt }) => attempt.script !== undefined);
  const programs = withScript.map((scene) => scene.program(scene.attempt.script!));
  const running = programs.length === 0 ? Promise.resolve([]) : runPrograms(programs, setting.server, sandbox);
  await Promise.all([
    running.then((said) => said.forEach((text, index) => withScript[index]!.heard(text))),
    ...prepared.map((scene) => scene.meanwhile(sandbox)),
  ]);
  const changes = await Place.changes(places);
  return await Promise.all(prepared.map((scene, index) => scene.outcome(changes[index]!)));
}

/** One attempt with everything that it aims at. */
class Scene {
  readonly attempt: Attempt;
  readonly place: Place;
  #said = "";
  #unclear: string | undefined;

  private constructor(
    private readonly one: Try,
    private readonly setting: Setting,
    place: Place,
    private readonly bystander: Bystander | null,
    private readonly facts: Readonly<Record<string, string>>,
  ) {
    [this.attempt, this.place] = [one.attempt, place];
  }

  /** @param stack Ends what the attempt needs. */
  static async prepare(one: Try, setting: Setting, stack: AsyncDisposableStack): Promise<Scene> {
    const { attempt } = one;
    const { server, user, root } = setting;
    const place = stack.use(Place.create(root, user));
    const bystander = attempt.bystander === undefined ? null : stack.use(
      await Bystander.start({
        ...{ user, directory: place.out, name: place.run, secret: place.secrets.memory, victim: `${place.out}/victim` },
        sharedMemory: attempt.bystander === "sharedMemory",
      }),
    );
    const own = { server: String(server.pid), serverVictim: server.victim };
    const facts = { ...place.facts(), ...bystander?.facts, ...own };
    await attempt.prepare?.(place, facts);
    return new Scene(one, setting, place, bystander, facts);
  }

  program(script: string): Program {
    return { script, facts: this.facts, leaks: this.one.policy === null ? this.attempt.leaks : undefined };
  }

  heard(text: string): void {
    if (!text.includes("BEGUN\n") || text.includes("BROKEN: ")) this.#unclear = "the program did not run as it should";
    this.#said += text;
  }

  async meanwhile(sandbox: Members | null): Promise<void> {
    const { server } = this.setting;
    await this.attempt.meanwhile?.({
      place: this.place,
      run: async (script) =>
        (await runPrograms([this.program(script)], server, sandbox)).forEach((text) => this.heard(text)),
      request: async (method, params) => {
        this.#said += `${method}: ${await server.request(method, params, sandbox)}\n`;
      },
    });
  }

  /** @param changes What became of its place. */
  async outcome(changes: readonly string[]): Promise<Outcome> {
    const { policy } = this.one;
    const said = this.#said;
    const guarded = policy?.keepsWorkspace === false
      ? changes.filter((line) => !line.startsWith("file: /ws"))
      : changes;
    const escaped = [
      ...(policy === null || policy.guards.includes("files") ? guarded : []),
      ...said.split("\n").filter((line) => line.startsWith("DONE: ")).map((line) => `program: ${line.slice(6)}`),
      ...this.#secretsRead(),
      ...await this.bystander?.end() ?? [],
      ...(await Deno.readTextFile(this.setting.server.victim)).includes(this.place.run)
        ? ["server: its open file was written"]
        : [],
    ];
    return { attempt: this.attempt, policy, escaped, unclear: this.#unclear, said };
  }

  /** Which secrets were read that the policy keeps. */
  #secretsRead(): string[] {
    const { policy } = this.one;
    const { outside, denied, memory } = this.place.secrets;
    const guards = (aspect: "files" | "processes" | "calls") => policy === null || policy.guards.includes(aspect);
    const kept: [string, string, boolean][] = [
      ["a file outside", outside, policy === null || policy.hidesOutside],
      ["a denied file", denied, guards("files") && policy?.hidesDenied !== false],
      ["the bystander's memory", memory, guards("processes") || guards("calls")],
      ["the server's environment", this.setting.server.secret, guards("processes")],
      ["a key of the server's session", this.setting.server.keySecret, guards("calls")],
    ];
    return kept.filter(([, text, isKept]) => isKept && this.#said.includes(text)).map(([name]) =>
      `secret: ${name} was read`
    );
  }
}
