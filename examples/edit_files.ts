// Changes a file on the server's machine, keeps a copy of the old one, and lists the directory.
//   deno run -A examples/edit_files.ts ws://127.0.0.1:8765 /directory/of/the/server
import { connect, FileError } from "@exec-server/exec-server";

const [url = "ws://127.0.0.1:8765", directory = "/tmp/example"] = Deno.args;
await using server = await connect(url);
const { files } = server;

await files.mkdir(directory, { recursive: true });
const path = `${directory}/notes.txt`;
try {
  await files.copy(path, `${path}.old`);
} catch (error) {
  // The first time there is nothing to keep.
  if (!(error instanceof FileError && error.kind === "NotFound")) throw error;
  await files.writeTextFile(path, "one\ntwo\n");
}
const text = await files.readTextFile(path);
await files.writeTextFile(path, text.replace("two", "three"));
for (const { name } of await files.readDir(directory)) {
  console.log(name, (await files.stat(`${directory}/${name}`)).size);
}
