import { describe, expect, test } from 'bun:test'
import { type Statement, sql } from '../db.ts'
import { createWriteQueue } from './writer-thread.ts'

const SMALL = [sql`INSERT INTO item VALUES (${1})`]
const document = (): Statement[] =>
  Array.from({ length: 80 }, () => sql`INSERT INTO word VALUES (${'词 '.repeat(500)})`)

/** What is taken from the queue until it is empty, by the names of the batches. */
function taken(names: readonly string[]): string[][] {
  const queue = createWriteQueue<{ name: string; batch: readonly Statement[] }>()
  for (const name of names) queue.add({ name, batch: name.startsWith('doc') ? document() : SMALL })
  const groups: string[][] = []
  for (let group = queue.next(); group.length > 0; group = queue.next()) {
    groups.push(group.map((item) => item.name))
  }
  return groups
}

describe('the queue of the writer', () => {
  test('the write queue groups small batches in the order of their arrival', () => {
    expect(taken(['a', 'b', 'c'])).toEqual([['a', 'b', 'c']])
  })

  test('the write queue groups a limited number of batches', () => {
    const names = Array.from({ length: 300 }, (_, i) => String(i))
    expect(taken(names).map((group) => group.length)).toEqual([256, 44])
  })

  test('the write queue runs large batches one by one, behind small ones', () => {
    expect(taken(['doc 1', 'doc 2', 'a', 'doc 3', 'b'])).toEqual([
      ['a', 'b'],
      ['doc 1'],
      ['doc 2'],
      ['doc 3'],
    ])
  })

  test('neither small nor large batches wait for more than one of the other', () => {
    const queue = createWriteQueue<{ name: string; batch: readonly Statement[] }>()
    const seen: string[] = []
    queue.add({ name: 'doc', batch: document() })
    queue.add({ name: 'doc', batch: document() })
    for (let round = 0; round < 4; round++) {
      queue.add({ name: 'small', batch: SMALL })
      seen.push(
        queue
          .next()
          .map((item) => item.name)
          .join(' '),
      )
    }
    expect(seen).toEqual(['small', 'doc', 'small small', 'doc'])
  })
})
