/** What the last jobs of a release do, at the first attempt and at others, with commands that only tell what they got. */
import assert from "node:assert/strict";
import config from "../../deno.json" with { type: "json" };
import { programSaying, sumOf } from "./install_scene.ts";
import { findProgram } from "./linter.ts";
import { releaseStep } from "./workflow.ts";

const PROJECT = new URL("../../", import.meta.url).pathname;
const options = { ignore: Deno.build.os !== "linux" };
const TAG = "v9.8.7";

class Runner implements Disposable {
  readonly directory = Deno.makeTempDirSync({ prefix: "exec-server-runner-" });

  write(name: string, content: string | Uint8Array, mode = 0o644): void {
    const path = `${this.directory}/${name}`;
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    Deno.writeFileSync(path, typeof content === "string" ? new TextEncoder().encode(content) : content, { mode });
  }

  /** A command that notes how it was called, and then does what it is told. */
  replace(command: string, lines: string): void {
    this.write(`bin/${command}`, `#!/bin/sh\necho "${command} $*" >>"$CALLS"\n${lines}\n`, 0o755);
  }

  /** As the runners of GitHub do it. */
  async run(script: string): Promise<{ code: number; said: string; calls: string[] }> {
    const calls = `${this.directory}/calls`;
    Deno.writeTextFileSync(calls, "");
    const { code, stdout, stderr } = await new Deno.Command("bash", {
      args: ["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script],
      cwd: this.directory,
      env: {
        PATH: `${this.directory}/bin:${Deno.env.get("PATH")}`,
        CALLS: calls,
        GITHUB_REF_NAME: TAG,
        NOTES: "Notes; $(false)",
      },
    }).output();
    const said = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("");
    return { code, said, calls: Deno.readTextFileSync(calls).split("\n").filter((line) => line !== "") };
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.directory, { recursive: true });
  }
}

Deno.test(
  "the release's files go into a draft, in the place of one that was left, and never into what is public",
  options,
  async () => {
    using runner = new Runner();
    runner.write("release/SHA256SUMS", "");
    runner.write("release/install.sh", "");
    const step = releaseStep("draft", "Put all files into a draft");
    const view = `gh release view ${TAG} --json isDraft --jq .isDraft`;
    const create = `gh release create ${TAG} --draft --verify-tag --title exec-server ${TAG} --notes Notes; $(false) ` +
      "--generate-notes release/SHA256SUMS release/install.sh";
    const cases: [there: string, code: number, calls: string[]][] = [
      ["echo 'release not found' >&2; exit 1", 0, [view, create]],
      ["echo true", 0, [view, `gh release delete ${TAG} --yes`, create]],
      ["echo false", 1, [view]],
    ];
    for (const [there, code, calls] of cases) {
      runner.replace("gh", `[ "$2" != view ] || { ${there}; }`);
      const outcome = await runner.run(step);
      assert.deepEqual([outcome.code, outcome.calls], [code, calls], outcome.said);
    }
  },
);

Deno.test("the client is published to npm once, whatever is run again, and no other file is taken for it", {
  // `jq` is what the runners have for that.
  ignore: options.ignore || ["jq", "openssl", "tar"].some((name) => findProgram(name) === undefined),
}, async () => {
  using runner = new Runner();
  runner.write("package/package.json", JSON.stringify({ name: "@some/client", version: "9.8.7" }));
  const file = "release/exec-server-client.tgz";
  Deno.mkdirSync(`${runner.directory}/release`);
  const packing = await runner.run(`tar -czf ${file} package`);
  assert.equal(packing.code, 0, packing.said);
  const digest = await crypto.subtle.digest("SHA-512", Deno.readFileSync(`${runner.directory}/${file}`));
  const integrity = `sha512-${new Uint8Array(digest).toBase64()}`;

  const step = releaseStep("npm", "Publish the client, unless npm has this very file");
  const view = "npm view @some/client@9.8.7 dist.integrity";
  const publish = `npm publish ./${file} --provenance --access public --ignore-scripts`;
  const cases: [there: string, calls: string[]][] = [
    ["exit 1", [view, publish]], // there is no such package
    [":", [view, publish]], // there is no such version of it
    [`echo ${integrity}`, [view]],
    // npm itself refuses to replace what there is.
    ["echo sha512-AAAA", [view, publish]],
  ];
  for (const [there, calls] of cases) {
    runner.replace("npm", `[ "$1" != view ] || { ${there}; }`);
    const outcome = await runner.run(step);
    assert.deepEqual([outcome.code, outcome.calls], [0, calls], outcome.said);
  }
});

Deno.test("what tries a release takes one that installs and answers, and no other", {
  ignore: options.ignore || Deno.build.target !== "x86_64-unknown-linux-gnu" ||
    ["python3", "curl"].some((name) => findProgram(name) === undefined),
}, async () => {
  using runner = new Runner();
  const script = Deno.readTextFileSync(`${PROJECT}scripts/install.sh`);
  runner.write("release/install.sh", script.replace("'@VERSION@'", `'${config.version}'`));
  const name = "exec-server-x86_64-linux-gnu";
  const version = `exec-server ${config.version}`;
  const cases: [program: string, code: number, said: RegExp][] = [
    [`#!/bin/sh\ncase $1 in --version) echo '${version}' ;; *) echo '{"id":1,"result":{}}' ;; esac\n`, 0, /answers\n$/],
    [programSaying(version), 1, /^it answered: exec-server /m],
    [programSaying("exec-server 1.2.3"), 1, /^install: the program of the release .* says that it is/m],
  ];
  for (const [program, code, said] of cases) {
    runner.write(`release/${name}`, program);
    runner.write("release/SHA256SUMS", `${await sumOf(program)}  ${name}\n`);
    const outcome = await runner.run(`${PROJECT}packaging/try_release.sh release`);
    assert.match(outcome.said, said);
    assert.equal(outcome.code, code, outcome.said);
  }
});
