import * as calls from "../../linux/file_calls.ts";
import type { Bytes } from "../../linux/libc.ts";
import { checked } from "../os_error.ts";
import { copyIntoItself } from "../refusals.ts";
import { copyFile } from "./copy_file.ts";
import { CopyLevel } from "./copy_level.ts";
import { copyLink, type Place } from "./copy_link.ts";
import { Destination } from "./destination.ts";
import { DT_DIR, DT_LNK, DT_REG, DT_UNKNOWN } from "./directory_reader.ts";
import { Levels } from "./levels.ts";
import { type Identity, isSame, LISTING, OpenDirectory } from "./open_directory.ts";
import type { Steps } from "../steps.ts";
import { typeAt } from "./type_at.ts";

/**
 * Copies what is in a directory into another one: down from one descriptor to the next on both sides, so that no link is
 * followed out of either, whoever puts it there meanwhile. Fifos, sockets and devices are left out.
 *
 * @param from The directory; a link to it is not followed.
 * @param top The directory that it is copied into; is closed in the end.
 * @throws {ExecError} The first failure; what is there by then stays.
 */
export function* copyTree(from: Place, top: OpenDirectory, signal: AbortSignal): Steps<void> {
  using levels = new Levels<CopyLevel>();
  const destination = new Destination(top);
  const topIdentity = top.identity();
  yield* levels.push(new CopyLevel({ source: openSource(from, topIdentity), target: top, found: null }));
  for (;;) {
    yield;
    const level = levels.current;
    if (level.reader.advance()) yield* copyChild(level);
    else if (levels.depth > 1) levels.pop();
    else return;
  }

  function* copyChild(level: CopyLevel): Steps<void> {
    const { name, type } = level.reader;
    const child = { at: level.source.fd, name };
    switch (type === DT_UNKNOWN ? typeOf(child) : type) {
      case DT_REG:
        return yield* copyFile(child, (flags, mode) => destination.openFile(level, name, flags, mode), signal);
      case DT_LNK:
        return copyLink(child, { at: level.fd, name });
      case DT_DIR:
        return yield* levels.push(yield* enter(level, name));
    }
  }

  function* enter(parent: CopyLevel, name: Bytes): Steps<CopyLevel> {
    const { directory: target, throughLink } = yield* destination.enter(parent, name);
    try {
      const source = openSource({ at: parent.source.fd, name }, topIdentity);
      return new CopyLevel({ source, target, found: { parent, name: name.slice(), throughLink } });
    } catch (error) {
      target[Symbol.dispose]();
      throw error;
    }
  }
}

/** @param top The destination: a mount can hide from the paths that it lies in the source. */
function openSource({ at, name }: Place, top: Identity): OpenDirectory {
  const source = OpenDirectory.at(at, name, LISTING | calls.O_NOFOLLOW);
  if (!isSame(source.identity(), top)) return source;
  source[Symbol.dispose]();
  throw copyIntoItself();
}

function typeOf({ at, name }: Place): number {
  return checked(typeAt(at, name, calls.AT_SYMLINK_NOFOLLOW));
}
