import { personSubject, tenantSubject } from '../../core/budget-subjects.ts'
import { appError } from '../../core/errors.ts'
import type { BudgetedKey, Principal } from '../../core/principal.ts'
import type { Keys } from '../keys/service.ts'
import type { DailyLimits } from '../tenants/limits-store.ts'
import type { Budgets } from './budgets.ts'

export interface AdmissionParts {
  readonly keys: Pick<Keys, 'budgetOf'>
  readonly budgets: Pick<Budgets, 'hold' | 'isSpent'>
  /** What the tenant and this person of it may use a day. */
  readonly limitsOf: (tenantId: string, userId: string | null) => Promise<DailyLimits>
}

/** Whose tokens a model's work costs; the console needs no key. */
type Caller = Pick<Principal, 'tenantId' | 'keyId' | 'userId'>

/** Admits work of models by the daily budgets of its key, its tenant and its person. */
export function createAdmission({ keys, budgets, limitsOf }: AdmissionParts) {
  /** The budgets that count; `own` is that of a caller without a key. */
  async function budgetsOf(
    { tenantId, keyId, userId }: Caller,
    own?: BudgetedKey,
  ): Promise<BudgetedKey[]> {
    const dailyTokens = keyId === null ? 0 : await keys.budgetOf(tenantId, keyId)
    if (dailyTokens === null) throw appError('invalid_key')
    const held = keyId === null ? own : { tenantId, keyId, dailyTokens }
    const limits = await limitsOf(tenantId, keyId === null ? userId : null)
    const all: readonly BudgetedKey[] = [
      ...(held ? [held] : []),
      { tenantId, keyId: tenantSubject(tenantId), dailyTokens: limits.tenant },
      { tenantId, keyId: personSubject(tenantId, userId ?? ''), dailyTokens: limits.person },
    ]
    return all.filter((one) => one.dailyTokens > 0)
  }

  return {
    /**
     * Holds `tokens` of each budget, or of none; the returned function gives them back. Throws
     * `invalid_key` for a key that was revoked since the request was admitted, and `budget_spent`
     * for a caller without tokens left.
     */
    async admit(caller: Caller, tokens: number, own?: BudgetedKey): Promise<() => void> {
      const releases: (() => void)[] = []
      const release = () => {
        for (const one of releases) one()
      }
      try {
        for (const key of await budgetsOf(caller, own)) {
          releases.push(await budgets.hold(key, tokens))
        }
      } catch (error) {
        release()
        throw error
      }
      return release
    },

    /**
     * Whether the caller has no tokens left today, whatever open turns hold. Throws `invalid_key`
     * for a key that was revoked.
     */
    async isSpent(caller: Caller): Promise<boolean> {
      const spent = await Promise.all((await budgetsOf(caller)).map(budgets.isSpent))
      return spent.includes(true)
    },
  }
}

export type Admission = ReturnType<typeof createAdmission>
