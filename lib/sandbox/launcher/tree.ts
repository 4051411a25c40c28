import * as calls from "../../linux/sandbox_calls.ts";
import { ENOTDIR } from "../../linux/errno.ts";
import { parent } from "../byte_path.ts";
import type { BytePath } from "../policy.ts";
import { LaunchFailure, must } from "./failure.ts";

const SELF = calls.cBytes(".");

/** A directory that is open, and what is below it: `/` stands for the directory itself. No symbolic link is followed. */
export class Tree {
  /** @param fd Stays open as long as the tree is used. */
  constructor(readonly fd: number) {}

  static open(path: BytePath): Tree {
    const flags = calls.O_PATH | calls.O_DIRECTORY;
    return new Tree(must(`openat2 ${path}`, calls.openWithoutLinks(calls.AT_FDCWD, calls.cBytes(path), flags)));
  }

  /** A descriptor that says where something is and opens nothing; the caller closes it. */
  find(path: BytePath): number {
    return must(`openat2 ${path}`, calls.openWithoutLinks(this.fd, relative(path), calls.O_PATH));
  }

  /** Whether this is a directory at all: a mount can be that of a file. */
  isDirectory(): boolean {
    const result = calls.openWithoutLinks(this.fd, SELF, calls.O_PATH | calls.O_DIRECTORY);
    if (result === -ENOTDIR) return false;
    calls.close(must("openat2 .", result));
    return true;
  }

  makeMountPoint(path: BytePath, isDirectory: boolean): void {
    this.makeDirectories(parent(path));
    if (isDirectory) this.makeDirectories(path);
    else if (!this.#exists(path)) this.makeFile(path, 0o644);
  }

  makeFile(path: BytePath, mode: number): void {
    const flags = calls.O_CREAT | calls.O_EXCL | calls.O_WRONLY;
    calls.close(must(`openat2 ${path}`, calls.openWithoutLinks(this.fd, relative(path), flags, mode)));
  }

  /** The directory with those above it, as far as they are missing. */
  makeDirectories(path: BytePath, mode = 0o755): void {
    if (path === "/" || this.#exists(path)) return;
    this.makeDirectories(parent(path));
    must(`mkdirat ${path}`, calls.makeDirectory(this.fd, relative(path), mode));
  }

  makeLink(path: BytePath, target: string): void {
    this.makeDirectories(parent(path));
    must(`symlinkat ${path}`, calls.makeSymlink(calls.cBytes(target), this.fd, relative(path)));
  }

  #exists(path: BytePath): boolean {
    const result = calls.openWithoutLinks(this.fd, relative(path), calls.O_PATH);
    if (result >= 0) calls.close(result);
    return result >= 0;
  }
}

function relative(path: BytePath): calls.Bytes {
  if (!path.startsWith("/")) throw new LaunchFailure("a path of the plan is not absolute");
  return path === "/" ? SELF : calls.cBytes(path.slice(1));
}
