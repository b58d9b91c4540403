import { appError } from '../../core/errors.ts'
import type { Principal } from '../../core/principal.ts'
import { isFreeSubject, personSubject, WYOMING_SUBJECT } from '../../core/subject.ts'
import type { Memory } from './model.ts'
import type { MemoryStore } from './store.ts'

export interface MemoryAccessParts {
  readonly store: Pick<MemoryStore, 'find' | 'hasDevice'>
  /** Throws `not_found` for an app that is not the tenant's. */
  readonly checkApp: (tenantId: string, appId: string) => Promise<unknown>
}

export const missing = () => appError('not_found', { what: 'memory' })
export const isPersons = (subject: string) => subject.startsWith('user:')
export const isOwn = ({ userId }: Principal, subject: string) =>
  userId !== null && subject === personSubject(userId)

/** Whether facts of this subject are the caller's to see: a person's are their own alone. */
function checkSees(principal: Principal, subject: string): void {
  if (isOwn(principal, subject)) return
  if (isPersons(subject)) throw missing()
  if (principal.role === 'viewer') throw appError('forbidden_role')
}

/** Who may name which subject and app, and see which fact. */
export function createMemoryAccess({ store, checkApp }: MemoryAccessParts) {
  /** The subject of a request. Throws for one that the caller may not name. */
  async function subjectOf(principal: Principal, given: string | null): Promise<string> {
    const subject = given?.trim() ?? ''
    if (subject === '') {
      if (principal.userId === null) throw appError('field_missing', { field: 'subject' })
      return personSubject(principal.userId)
    }
    checkSees(principal, subject)
    await checkForm(principal, subject)
    return subject
  }

  async function checkForm({ tenantId }: Principal, subject: string): Promise<void> {
    if (isPersons(subject) || subject === WYOMING_SUBJECT || isFreeSubject(subject)) return
    if (!subject.startsWith('device:')) throw appError('memory_subject', {}, { param: 'subject' })
    if (!(await store.hasDevice(tenantId, subject.slice('device:'.length)))) {
      throw appError('not_found', { what: 'device' })
    }
  }

  /** The app whose facts are meant; an app's key has its own alone. */
  async function appOf(principal: Principal, given: string | null): Promise<string | null> {
    const { kind, tenantId, appId } = principal
    if (kind === 'app') {
      if (given !== null && given !== appId) throw appError('not_found', { what: 'app' })
      return appId
    }
    if (given !== null) await checkApp(tenantId, given)
    return given
  }

  /** Throws `not_found` for what the caller does not see. */
  async function read(principal: Principal, id: string): Promise<Memory> {
    const memory = await store.find(principal.tenantId, id)
    const isForeign = principal.kind === 'app' && memory?.app_id !== principal.appId
    if (!memory || isForeign) throw missing()
    checkSees(principal, memory.subject)
    return memory
  }

  return { subjectOf, appOf, read }
}
