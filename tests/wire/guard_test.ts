import assert from "node:assert/strict";
import { Guard, Unsafe } from "./guard.ts";
import { Workspace } from "./workspace.ts";

async function withGuard(body: (guard: Guard, scene: string) => Promise<void>): Promise<void> {
  await using workspace = await Workspace.create();
  await body(new Guard(workspace.root), workspace.scene);
}

const request = (method: string, params: unknown) => JSON.stringify({ id: 1, method, params });

Deno.test("what changes or reads files may do so in the scenario's own directory, by any spelling", () =>
  withGuard(async (guard, scene) => {
    for (const path of [`file://${scene}/a`, `file://localhost${scene}/b/../a%2Fc`, `FILE:${scene}//a/`]) {
      await guard.checkMessage(request("fs/remove", { path }));
      await guard.checkMessage(request("fs/readFile", { path }));
      await guard.checkMessage(request("fs/copy", { sourcePath: path, destinationPath: path, recursive: true }));
    }
  }));

Deno.test("nothing is sent that names a place elsewhere, or of which it is not certain where it leads", () =>
  withGuard(async (guard, scene) => {
    const strangers = [
      "file:///",
      "file:///etc/hostname",
      `file://${scene}/../../x`,
      `file://${scene}/%2e%2e/%2E%2E/x`,
      `file://${scene}/..%2F..%2Fx`,
      `file://elsewhere${scene}/a`,
      `${scene}/a`,
      "a",
      "",
    ];
    for (const path of strangers) {
      for (const method of ["fs/remove", "fs/writeFile", "fs/createDirectory", "fs/open", "fs/readFile", "fs/walk"]) {
        await assert.rejects(guard.checkMessage(request(method, { path, force: true })), Unsafe, `${method} ${path}`);
      }
      const inside = `file://${scene}/a`;
      const pairs = [[path, inside], [inside, path]];
      for (const [sourcePath, destinationPath] of pairs) {
        await assert.rejects(guard.checkMessage(request("fs/copy", { sourcePath, destinationPath })), Unsafe);
      }
    }
  }));

Deno.test("a link that leads out of the directory is followed by the guard, not by the server", () =>
  withGuard(async (guard, scene) => {
    await Deno.symlink("/etc", `${scene}/etc`);
    await Deno.symlink("etc/new", `${scene}/dangling`);
    await Deno.symlink("self", `${scene}/self`);
    for (const name of ["etc", "etc/hostname", "etc/nothing", "dangling"]) {
      await assert.rejects(guard.checkMessage(request("fs/writeFile", { path: `file://${scene}/${name}` })), Unsafe);
      await assert.rejects(guard.checkPath(`${scene}/${name}`), Unsafe);
    }
    await guard.checkMessage(request("fs/writeFile", { path: `file://${scene}/self` }));
    assert.throws(() => guard.checkLink(`${scene}/a/b`, "../../../x"), Unsafe);
    assert.throws(() => guard.checkLink(`${scene}/a`, "/etc"), Unsafe);
    guard.checkLink(`${scene}/a/b`, "../c");
  }));

Deno.test("a look at what is there, a request that is not decoded and a method that does not exist may name anything", () =>
  withGuard(async (guard) => {
    for (const method of ["fs/canonicalize", "fs/getMetadata", "fs/watchMissing", "fs/rename"]) {
      await guard.checkMessage(request(method, { path: "file:///etc/hostname" }));
    }
    await guard.checkMessage(request("fs/remove", { path: 5 }));
    await guard.checkMessage(request("fs/remove", null));
    await assert.rejects(guard.checkMessage('{"id":1,"method":"fs/remove","params":{"path":"file:///"}'), Unsafe);
  }));
