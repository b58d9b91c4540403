import type { Rule } from '../rule.ts'
import type { Finding, SourceFile } from '../tree.ts'
import { isTest } from '../zones.ts'

/** A text in backticks that writes. No statement has a backtick in it. */
const WRITES = /`(\s*(?:INSERT|UPDATE|DELETE)\b[^`]*)`/g
/** It reads other rows, too: by a SELECT, or by a part that is put together elsewhere. */
const READS = /\bSELECT\b|\$\{\w+\.sql\}/
/** The elements of an argument are no rows. */
const ARGUMENT = /\bSELECT\s[^()]*(?:\([^()]*(?:\([^()]*\)[^()]*)?\)[^()]*)?\bFROM json_each\(/g
/** What stands before a statement that names its lock. */
const NAMES = /\blocked\([^`]*\)\s*$|\bwithLock\(\s*\[[^\]`]*\],\s*\{\s*sql:\s*$/
/** In a comment above: why it needs none. */
const EXCUSED = /\/[/*].* No lock: \S/

function check({ path, text }: SourceFile): Finding[] {
  return [...text.matchAll(WRITES)].flatMap((match): Finding[] => {
    const before = text.slice(0, match.index)
    const lines = before.split('\n')
    const near = lines.slice(-4).join('\n')
    const decides = READS.test((match[1] ?? '').replaceAll(ARGUMENT, ''))
    if (!decides || NAMES.test(before.slice(-120)) || EXCUSED.test(near)) return []
    const message = 'writes by what it reads: name its lock (`locked` in storage/db.ts)'
    return [{ path, line: lines.length, message }]
  })
}

/**
 * SQLite runs one writing statement after another. On PostgreSQL two at once could both find a
 * condition met. What stands in storage/ belongs to one adapter, which knows how it runs.
 */
export const lockRule: Rule = {
  name: 'a statement that writes by what it reads names its lock',
  check: (files) =>
    files
      .filter(({ path }) => /^src\/(?!storage\/).*\.ts$/.test(path) && !isTest(path))
      .flatMap(check),
}
