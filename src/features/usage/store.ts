import {
  type Db,
  expectRows,
  locked,
  type Reader,
  type Statement,
  sql,
  storedAsExpected,
} from '../../storage/db.ts'
import type { Source } from './model.ts'

/**
 * A count: the calls of a key (`channel` '') or the tokens of its turns on a channel. `appId` '' is
 * no app, `keyId` '' is the studio; tokens of visitors have the id of their share in place of a
 * key's. `day` is days since the epoch.
 */
export interface UsageSum {
  readonly tenantId: string
  readonly day: number
  readonly keyId: string
  readonly appId: string
  /** The person who used them in the console. */
  readonly userId?: string | undefined
  readonly channel: '' | 'byo' | 'platform' | 'platform_fallback'
  readonly source: Source
  calls: number
  /** Calls, and turns of people at the console, which are no calls. */
  begun: number
  inputTokens: number
  outputTokens: number
  /** When the key was last used (epoch milliseconds); null in a sum of tokens. */
  usedAt: number | null
}

/** No count grows beyond this: sums of thousands of them fit into a column of 64 bits. */
export const COUNT_MAX = 10 ** 15

const atMost = (count: number): number => Math.min(count, COUNT_MAX)

// Servers that add to the same rows in different orders would wait for each other.
const addToDay = ({ tenantId, day, appId, ...sum }: UsageSum): Statement => locked('usage_day')`
  INSERT INTO usage_day (tenant_id, day, app_id, calls, input_tokens, output_tokens)
  VALUES (${tenantId}, ${day}, ${appId}, ${atMost(sum.calls)}, ${atMost(sum.inputTokens)},
    ${atMost(sum.outputTokens)})
  ON CONFLICT (tenant_id, day, app_id) DO UPDATE SET
    calls = CASE WHEN usage_day.calls > ${COUNT_MAX} - excluded.calls
      THEN ${COUNT_MAX} ELSE usage_day.calls + excluded.calls END,
    input_tokens = CASE WHEN usage_day.input_tokens > ${COUNT_MAX} - excluded.input_tokens
      THEN ${COUNT_MAX} ELSE usage_day.input_tokens + excluded.input_tokens END,
    output_tokens = CASE WHEN usage_day.output_tokens > ${COUNT_MAX} - excluded.output_tokens
      THEN ${COUNT_MAX} ELSE usage_day.output_tokens + excluded.output_tokens END`

const addToKey = ({ tenantId, day, keyId, appId, channel, ...sum }: UsageSum): Statement => sql`
  INSERT INTO usage_key_day (tenant_id, day, key_id, app_id, channel, calls, input_tokens,
    output_tokens)
  VALUES (${tenantId}, ${day}, ${keyId}, ${appId}, ${channel}, ${atMost(sum.calls)},
    ${atMost(sum.inputTokens)}, ${atMost(sum.outputTokens)})
  ON CONFLICT (tenant_id, day, key_id, app_id, channel) DO UPDATE SET
    calls = CASE WHEN usage_key_day.calls > ${COUNT_MAX} - excluded.calls
      THEN ${COUNT_MAX} ELSE usage_key_day.calls + excluded.calls END,
    input_tokens = CASE WHEN usage_key_day.input_tokens > ${COUNT_MAX} - excluded.input_tokens
      THEN ${COUNT_MAX} ELSE usage_key_day.input_tokens + excluded.input_tokens END,
    output_tokens = CASE WHEN usage_key_day.output_tokens > ${COUNT_MAX} - excluded.output_tokens
      THEN ${COUNT_MAX} ELSE usage_key_day.output_tokens + excluded.output_tokens END`

const addToPerson = (userId: string, { tenantId, day, ...sum }: UsageSum): Statement => sql`
  INSERT INTO usage_person_day (tenant_id, day, user_id, input_tokens, output_tokens)
  VALUES (${tenantId}, ${day}, ${userId}, ${atMost(sum.inputTokens)}, ${atMost(sum.outputTokens)})
  ON CONFLICT (tenant_id, day, user_id) DO UPDATE SET
    input_tokens = CASE WHEN usage_person_day.input_tokens > ${COUNT_MAX} - excluded.input_tokens
      THEN ${COUNT_MAX} ELSE usage_person_day.input_tokens + excluded.input_tokens END,
    output_tokens = CASE WHEN usage_person_day.output_tokens > ${COUNT_MAX} - excluded.output_tokens
      THEN ${COUNT_MAX} ELSE usage_person_day.output_tokens + excluded.output_tokens END`
const addToSource = ({ tenantId, day, source, ...sum }: UsageSum): Statement =>
  locked('usage_source_day')`
  INSERT INTO usage_source_day (tenant_id, day, source, calls, input_tokens, output_tokens)
  VALUES (${tenantId}, ${day}, ${source}, ${atMost(sum.begun)}, ${atMost(sum.inputTokens)},
    ${atMost(sum.outputTokens)})
  ON CONFLICT (tenant_id, day, source) DO UPDATE SET
    calls = CASE WHEN usage_source_day.calls > ${COUNT_MAX} - excluded.calls
      THEN ${COUNT_MAX} ELSE usage_source_day.calls + excluded.calls END,
    input_tokens = CASE WHEN usage_source_day.input_tokens > ${COUNT_MAX} - excluded.input_tokens
      THEN ${COUNT_MAX} ELSE usage_source_day.input_tokens + excluded.input_tokens END,
    output_tokens = CASE WHEN usage_source_day.output_tokens > ${COUNT_MAX} - excluded.output_tokens
      THEN ${COUNT_MAX} ELSE usage_source_day.output_tokens + excluded.output_tokens END`

const usedAt = (tenantId: string, keyId: string, at: number): Statement => sql`
  INSERT INTO key_use (tenant_id, key_id, last_used_at) VALUES (${tenantId}, ${keyId}, ${at})
  ON CONFLICT (tenant_id, key_id) DO UPDATE SET last_used_at = excluded.last_used_at`

/** Fails its batch when this writer has stored a batch of this number or a later one. */
const asNext = (writer: string, number: number, at: number): Statement =>
  expectRows(
    1,
    sql`
    INSERT INTO usage_writer (id, batch, written_at) VALUES (${writer}, ${number}, ${at})
    ON CONFLICT (id) DO UPDATE SET batch = excluded.batch, written_at = excluded.written_at
      WHERE usage_writer.batch < excluded.batch`,
  )

const NOTHING = { calls: 0, begun: 0, inputTokens: 0, outputTokens: 0 }

/** Adds up by tenant, day and app or source, so that a hundred keys of an app change one row. */
function sumsBy(by: 'appId' | 'source', sums: readonly UsageSum[]): Iterable<UsageSum> {
  const byName = new Map<string, UsageSum>()
  for (const sum of sums) {
    const name = `${sum.tenantId}/${sum.day}/${sum[by]}`
    const { calls, begun, inputTokens, outputTokens } = byName.get(name) ?? NOTHING
    byName.set(name, {
      ...sum,
      calls: calls + sum.calls,
      begun: begun + sum.begun,
      inputTokens: inputTokens + sum.inputTokens,
      outputTokens: outputTokens + sum.outputTokens,
    })
  }
  return byName.values()
}

/** Calls and tokens. */
interface Figures {
  calls: number
  inputTokens: number
  outputTokens: number
}

/**
 * Calls and tokens by tenant, day, app, key and channel. `reader` reads what grows with keys.
 * `writer` is the name of this process among those that add to the sums.
 */
export function createUsageStore(db: Db, reader: Reader, writer: string) {
  return {
    /**
     * Adds the sums to the stored ones, once for each number, which grows from call to call: a
     * batch whose answer was lost is given again with its number.
     */
    async write(sums: readonly UsageSum[], number: number, at: number): Promise<void> {
      const added = db.batch([
        asNext(writer, number, at),
        ...[...sumsBy('appId', sums)].map(addToDay),
        ...[...sumsBy('source', sums)].map(addToSource),
        ...sums.map(addToKey),
        ...sums.flatMap((sum) => (sum.userId ? [addToPerson(sum.userId, sum)] : [])),
        ...sums.flatMap(({ tenantId, keyId, usedAt: last }) =>
          last === null ? [] : [usedAt(tenantId, keyId, last)],
        ),
      ])
      await storedAsExpected(added)
    },

    /** Forgets processes that have written nothing since `before` (epoch milliseconds). */
    async pruneWriters(before: number): Promise<void> {
      await db.run(sql`DELETE FROM usage_writer WHERE written_at < ${before}`)
    },

    /**
     * Deletes up to 5,000 rows of keys, of all tenants, of days before `day`; resolves with their
     * number. The sums by app stay: totals are of all time.
     */
    async prune(day: number): Promise<number> {
      // No lock: rows only grow older.
      const { changes } = await db.run(sql`
        DELETE FROM usage_key_day WHERE (tenant_id, day, key_id, app_id, channel) IN (
          SELECT u.tenant_id, u.day, u.key_id, u.app_id, u.channel
          FROM tenant t CROSS JOIN usage_key_day u
          WHERE u.tenant_id = t.id AND u.day < ${day} LIMIT 5000)`)
      return changes
    },

    /** Tokens of a key on one day, in and out. */
    async tokensOfDay(tenantId: string, keyId: string, day: number): Promise<number> {
      const row = await db.get<{ tokens: number | null }>(sql`
        SELECT sum(input_tokens + output_tokens) AS tokens FROM usage_key_day
        WHERE tenant_id = ${tenantId} AND day = ${day} AND key_id = ${keyId}`)
      return row?.tokens ?? 0
    },

    /** Tokens of a whole tenant on one day, in and out. */
    async tokensOfTenant(tenantId: string, day: number): Promise<number> {
      const row = await db.get<{ tokens: number | null }>(sql`
        SELECT sum(input_tokens + output_tokens) AS tokens FROM usage_day
        WHERE tenant_id = ${tenantId} AND day = ${day}`)
      return row?.tokens ?? 0
    },

    /** Tokens of a person in the console of a tenant on one day, in and out. */
    async tokensOfPerson(tenantId: string, userId: string, day: number): Promise<number> {
      const row = await db.get<{ tokens: number }>(sql`
        SELECT input_tokens + output_tokens AS tokens FROM usage_person_day
        WHERE tenant_id = ${tenantId} AND day = ${day} AND user_id = ${userId}`)
      return row?.tokens ?? 0
    },

    /** By person, from `since` on, the greatest use first. */
    byPerson: (tenantId: string, since: number) =>
      db.all<Omit<Figures, 'calls'> & { userId: string }>(sql`
        SELECT user_id AS "userId", sum(input_tokens) AS "inputTokens",
          sum(output_tokens) AS "outputTokens"
        FROM usage_person_day WHERE tenant_id = ${tenantId} AND day >= ${since}
        GROUP BY user_id ORDER BY sum(input_tokens + output_tokens) DESC, user_id`),

    /** What a tenant used in all, and its number of keys. */
    async totals(tenantId: string): Promise<Figures & { keyCount: number }> {
      const row = await db.get<Figures & { keyCount: number }>(sql`
        SELECT coalesce(sum(calls), 0) AS calls, coalesce(sum(input_tokens), 0) AS "inputTokens",
          coalesce(sum(output_tokens), 0) AS "outputTokens",
          (SELECT count(*) FROM api_key WHERE tenant_id = ${tenantId}) AS "keyCount"
        FROM usage_day WHERE tenant_id = ${tenantId}`)
      return row ?? { calls: 0, inputTokens: 0, outputTokens: 0, keyCount: 0 }
    },

    /** By day and app, from `since` on. */
    byApp: (tenantId: string, since: number) =>
      db.all<Figures & { day: number; appId: string }>(sql`
        SELECT day, app_id AS "appId", calls, input_tokens AS "inputTokens",
          output_tokens AS "outputTokens"
        FROM usage_day WHERE tenant_id = ${tenantId} AND day >= ${since}`),

    /** By key, from `since` on, the greatest use first; the studio is left out. */
    byKey: (tenantId: string, since: number, today: number) =>
      reader.all<Figures & { keyId: string; prefix: string; tokensToday: number }>(
        tenantId,
        sql`
        SELECT key_id AS "keyId", prefix, sum(calls) AS calls, sum(input_tokens) AS "inputTokens",
          sum(output_tokens) AS "outputTokens",
          sum(CASE WHEN day = ${today} THEN input_tokens + output_tokens ELSE 0 END)
            AS "tokensToday"
        FROM usage_key_day AS used JOIN api_key AS key ON key.id = used.key_id
        WHERE used.tenant_id = ${tenantId} AND key.tenant_id = ${tenantId} AND day >= ${since}
        GROUP BY key_id, prefix
        ORDER BY sum(input_tokens + output_tokens) DESC, sum(calls) DESC, key_id`,
      ),

    /** When each key was last used, and its calls from `since` on. */
    activity: (tenantId: string, since: number) =>
      reader.all<{ keyId: string; lastUsedAt: number; calls: number }>(
        tenantId,
        sql`
        SELECT key_id AS "keyId", last_used_at AS "lastUsedAt", coalesce(calls, 0) AS calls
        FROM key_use LEFT JOIN (
          SELECT key_id, sum(calls) AS calls FROM usage_key_day
          WHERE tenant_id = ${tenantId} AND day >= ${since} GROUP BY key_id
        ) AS counted USING (key_id)
        WHERE tenant_id = ${tenantId}`,
      ),

    /** By source, from `since` on. */
    bySource: (tenantId: string, since: number) =>
      db.all<Figures & { source: Source }>(sql`
        SELECT source, sum(calls) AS calls, sum(input_tokens) AS "inputTokens",
          sum(output_tokens) AS "outputTokens"
        FROM usage_source_day WHERE tenant_id = ${tenantId} AND day >= ${since}
        GROUP BY source ORDER BY source`),

    /** By channel, from `since` on. */
    byChannel: (tenantId: string, since: number) =>
      reader.all<Omit<Figures, 'calls'> & { channel: string }>(
        tenantId,
        sql`
        SELECT channel, sum(input_tokens) AS "inputTokens", sum(output_tokens) AS "outputTokens"
        FROM usage_key_day
        WHERE tenant_id = ${tenantId} AND day >= ${since} AND channel <> ''
        GROUP BY channel ORDER BY channel`,
      ),
  }
}

export type UsageStore = ReturnType<typeof createUsageStore>
