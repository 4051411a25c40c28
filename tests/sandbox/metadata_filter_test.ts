import assert from "node:assert/strict";
import { ENOSYS, EPERM, EROFS } from "../../lib/linux/errno.ts";
import { metadataFilter } from "../../lib/sandbox/metadata_filter.ts";
import { runFilter } from "./support/bpf_interpreter.ts";

const ALLOW = 0x7fff0000;
const READ_ONLY = 0x00050000 | EROFS;
const REFUSE = 0x00050000 | EPERM;
const MISSING = 0x00050000 | ENOSYS;
const KILL = 0x80000000;

const MACHINES = [
  {
    machine: "x86_64",
    arch: 0xc000003e,
    chmod: 90,
    fchmodat: 268,
    utimensat: 280,
    write: 1,
    ioctl: 16,
    // prlimit64, sched_setparam, sched_setscheduler, sched_setaffinity, sched_setattr
    ofAProcess: [302, 142, 144, 203, 314],
    setpriority: 141,
    ioprioSet: 251,
    sharing: { shmget: 29, shmat: 30, semget: 64, msgget: 68, mq_open: 240 },
  },
  {
    machine: "aarch64",
    arch: 0xc00000b7,
    chmod: 52,
    fchmodat: 53,
    utimensat: 88,
    write: 64,
    ioctl: 29,
    ofAProcess: [261, 118, 119, 122, 274],
    setpriority: 140,
    ioprioSet: 30,
    sharing: { shmget: 194, shmat: 196, semget: 190, msgget: 186, mq_open: 180 },
  },
] as const;

for (const { machine, arch, chmod, fchmodat, utimensat, write, ioctl, ...more } of MACHINES) {
  const { ofAProcess, setpriority, ioprioSet, sharing } = more;

  Deno.test(`${machine}: what changes a file's metadata fails as on a read-only file system`, () => {
    const filter = metadataFilter(machine);
    for (const nr of [chmod, fchmodat, utimensat, 452, 463, 466, 469]) {
      assert.equal(runFilter(filter, { nr, arch }), READ_ONLY, String(nr));
    }
    assert.equal(runFilter(filter, { nr: write, arch }), ALLOW);
    assert.equal(runFilter(filter, { nr: write, arch: 0x40000003 }), KILL);
  });

  Deno.test(`${machine}: of the device controls only those are refused that change attributes or make volumes`, () => {
    const filter = metadataFilter(machine);
    const [FS_IOC_SETFLAGS, BTRFS_IOC_SUBVOL_CREATE, FICLONE, TCGETS] = [
      0x40086602n,
      0x5000940en,
      0x40049409n,
      0x5401n,
    ];
    assert.equal(runFilter(filter, { nr: ioctl, arch, args: [3n, BTRFS_IOC_SUBVOL_CREATE] }), READ_ONLY);
    assert.equal(runFilter(filter, { nr: ioctl, arch, args: [3n, FICLONE] }), ALLOW);
    assert.equal(runFilter(filter, { nr: ioctl, arch, args: [3n, FS_IOC_SETFLAGS] }), READ_ONLY);
    // The kernel looks at the lower half of it only.
    assert.equal(runFilter(filter, { nr: ioctl, arch, args: [3n, FS_IOC_SETFLAGS | 1n << 32n] }), READ_ONLY);
    assert.equal(runFilter(filter, { nr: ioctl, arch, args: [3n, TCGETS] }), ALLOW);
  });

  Deno.test(`${machine}: priorities can be changed for oneself only`, () => {
    const filter = metadataFilter(machine);
    const [PRIO_PROCESS, PRIO_USER] = [0n, 2n];
    assert.equal(runFilter(filter, { nr: setpriority, arch, args: [PRIO_PROCESS, 0n] }), ALLOW);
    assert.equal(runFilter(filter, { nr: setpriority, arch, args: [PRIO_PROCESS, 1n] }), REFUSE);
    assert.equal(runFilter(filter, { nr: setpriority, arch, args: [PRIO_USER, 0n] }), REFUSE);
    const [IOPRIO_WHO_PROCESS, IOPRIO_WHO_USER] = [1n, 3n];
    assert.equal(runFilter(filter, { nr: ioprioSet, arch, args: [IOPRIO_WHO_PROCESS, 0n] }), ALLOW);
    assert.equal(runFilter(filter, { nr: ioprioSet, arch, args: [IOPRIO_WHO_PROCESS, 1n] }), REFUSE);
    assert.equal(runFilter(filter, { nr: ioprioSet, arch, args: [IOPRIO_WHO_USER, 0n] }), REFUSE);
  });

  Deno.test(`${machine}: what processes share without files is not there`, () => {
    const filter = metadataFilter(machine);
    for (const [name, nr] of Object.entries(sharing)) assert.equal(runFilter(filter, { nr, arch }), MISSING, name);
  });

  Deno.test(`${machine}: limits, scheduling and processors can be changed for oneself only`, () => {
    const filter = metadataFilter(machine);
    for (const nr of ofAProcess) {
      assert.equal(runFilter(filter, { nr, arch, args: [0n] }), ALLOW);
      assert.equal(runFilter(filter, { nr, arch, args: [1n] }), REFUSE);
      assert.equal(runFilter(filter, { nr, arch, args: [1n << 32n] }), ALLOW, "the kernel takes it for 0");
    }
  });
}

Deno.test("x86_64: the calls of x32 are refused", () => {
  assert.equal(runFilter(metadataFilter("x86_64"), { nr: 0x40000000 + 90, arch: 0xc000003e }), REFUSE);
});
