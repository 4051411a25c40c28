/** The rows of files and of HTTP requests. A quick run measures with smaller files and trees than their titles say. */
import type { Row } from "./rows.ts";

const MEDIAN = 0.5;

const same = (bound: number) => ({ ws: bound, stdio: bound });

export const FILE_ROWS = [
  { id: "read-1kb", title: "readFile, 1 KB", unit: "ms", quantile: MEDIAN, target: same(1.2) },
  { id: "read-1mb", title: "readFile, 1 MB", unit: "ms", quantile: MEDIAN, target: same(0.9) },
  {
    id: "read-200",
    title: "200 readFile of 1 KB in flight, per request",
    unit: "ms",
    quantile: MEDIAN,
    target: same(0.5),
  },
  { id: "write-1mb", title: "writeFile, 1 MB", unit: "ms", quantile: MEDIAN, target: same(1.0) },
  {
    id: "read-blocks-1",
    title: "1 GB read by blocks, one in flight",
    unit: "MB/s",
    quantile: MEDIAN,
    target: same(1.0),
  },
  {
    id: "read-blocks-2",
    title: "1 GB read by blocks, two in flight",
    unit: "MB/s",
    quantile: MEDIAN,
    target: same(1.0),
  },
  {
    id: "write-blocks-1",
    title: "1 GB written by blocks, one in flight",
    unit: "MB/s",
    quantile: MEDIAN,
    target: same(1.0),
  },
  {
    id: "write-blocks-2",
    title: "1 GB written by blocks, two in flight",
    unit: "MB/s",
    quantile: MEDIAN,
    target: same(1.0),
  },
  {
    id: "read-directory",
    title: "readDirectory of 45 000 entries",
    unit: "ms",
    quantile: MEDIAN,
    target: same(1.0),
  },
  { id: "walk", title: "walk of 50 000 entries", unit: "ms", quantile: MEDIAN, target: same(1.0) },
  { id: "http-stream", title: "http/request, 1 GB streamed", unit: "MB/s", quantile: MEDIAN, target: same(1.0) },
  {
    id: "second-walk-p90",
    title: "a second client's request during a walk of 50 000, 90th percentile",
    unit: "ms",
    quantile: 0.9,
    target: { ws: 1.0 },
  },
  {
    id: "second-copy-p90",
    title: "a second client's request during a copy of 50 000, 90th percentile",
    unit: "ms",
    quantile: 0.9,
    target: { ws: 1.0 },
  },
  {
    id: "second-remove-p90",
    title: "a second client's request during a removal of 50 000, 90th percentile",
    unit: "ms",
    quantile: 0.9,
    target: { ws: 1.0 },
  },
  {
    id: "memory-read-100mb",
    title: "peak memory, readFile of 100 MB",
    unit: "MB",
    quantile: MEDIAN,
    target: {},
    limit: 400, // four times the file
  },
] as const satisfies readonly Row[];
