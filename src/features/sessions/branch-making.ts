import { createSemaphore } from '../../core/semaphore.ts'
import { type Leases, leaseName } from '../../storage/shared-state.ts'
import type { BranchCopies, NewBranch } from './branch-copy-store.ts'
import type { Deletion } from './deletion-store.ts'

export interface MakingOptions {
  readonly copies: BranchCopies
  readonly deletion: Pick<Deletion, 'clear'>
  readonly leases: Pick<Leases, 'hold' | 'held'>
}

const LEASE = leaseName.branch('')

/**
 * Makes branches in pieces, so that others write meanwhile: a session of 100 MB would hold the
 * writes of all tenants for seconds. Nobody sees a branch before it is whole; what is left of one
 * whose server died is swept away.
 */
export function createMaking({ copies, deletion, leases }: MakingOptions) {
  /** One branch of a tenant at a time; those of a piece do not wait for long ones. */
  const [short, long] = [createSemaphore({ perKey: 1 }).run, createSemaphore({ perKey: 1 }).run]
  /** One piece at a time: pieces of many tenants would share one transaction. */
  const alone = createSemaphore({ slots: 1 }).run

  async function copied(branch: NewBranch, signal: AbortSignal): Promise<boolean> {
    if (!(await copies.begin(branch))) return false
    for (const piece of branch.pieces) {
      if (!(await alone(branch.tenantId, () => copies.copy(branch, piece), signal))) return false
    }
    signal.throwIfAborted()
    return copies.show(branch)
  }

  async function discard(tenantId: string, id: string, signal?: AbortSignal): Promise<void> {
    await copies.giveUp(tenantId, id)
    await deletion.clear(tenantId, id, signal)
  }

  async function inPieces(branch: NewBranch, signal: AbortSignal): Promise<boolean> {
    let isWhole = false
    await leases.hold(leaseName.branch(branch.id), signal, async (held) => {
      try {
        isWhole = await copied(branch, held)
      } finally {
        // What the database does not delete now, the next sweep does.
        if (!isWhole) await discard(branch.tenantId, branch.id).catch(() => {})
      }
    })
    return isWhole
  }

  return {
    /** False when the session was deleted meanwhile, or no longer has these turns. */
    make: (branch: NewBranch, signal: AbortSignal): Promise<boolean> =>
      branch.pieces.length > 1
        ? long(branch.tenantId, () => inPieces(branch, signal), signal)
        : short(branch.tenantId, () => copies.whole(branch), signal),

    /** Deletes branches that no server makes any more. */
    async sweep(signal?: AbortSignal): Promise<void> {
      const unfinished = await copies.unfinished()
      if (unfinished.length === 0) return
      const making = new Set(await leases.held(LEASE))
      for (const { tenant_id, id } of unfinished) {
        if (!making.has(leaseName.branch(id))) await discard(tenant_id, id, signal)
      }
    },
  }
}
