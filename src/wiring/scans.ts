import type { Principal } from '../core/principal.ts'
import { counted } from '../features/agent/channel-choice.ts'
import { createPageReader } from '../features/knowledge/scans/page-reader.ts'
import { createScans } from '../features/knowledge/scans/service.ts'
import { createScanStore } from '../features/knowledge/scans/store.ts'
import type { Uploader } from '../features/knowledge/sources/row.ts'
import type { Settings } from '../features/settings/service.ts'
import type { Admission } from '../features/usage/admission.ts'
import type { Usage } from '../features/usage/service.ts'
import type { Adapters } from './adapters.ts'
import type { openProvider } from './provider.ts'

interface ScanNeeds {
  readonly settings: Pick<Settings, 'get'>
  readonly provider: Pick<ReturnType<typeof openProvider>, 'channelOf'>
  readonly usage: Pick<Usage, 'countTokens'>
  readonly admission: Pick<Admission, 'isSpent'>
}

/** Wires the reading of scanned pages by the model that a tenant has chosen. */
export function openScans(adapters: Adapters, needs: ScanNeeds) {
  const { live, clock, db, parser, spool, shared } = adapters
  const { settings, provider, usage, admission } = needs

  const isWanted = async (tenantId: string) => (await settings.get(tenantId)).ocr === 'scans'
  const channelOf = async (tenantId: string) => {
    const choice = await provider.channelOf(tenantId)
    return choice.llm.name === 'offline' ? null : choice
  }
  const readPage = createPageReader({
    clock,
    isSpent: admission.isSpent,
    async modelOf(uploader) {
      const { tenantId } = uploader
      const choice = await channelOf(tenantId)
      if (!choice) return null
      const { model, ocr_model } = await settings.get(tenantId)
      const { label, llm, isCurrent } = choice
      const channel = { label, llm, model: ocr_model ?? model, isCurrent }
      return counted({ usage }, principalOf(uploader), channel)
    },
  })
  return createScans({
    store: createScanStore(db),
    parser,
    spool,
    readPage,
    leases: shared.leases,
    clock,
    isWanted,
    isOn: async (tenantId) => (await isWanted(tenantId)) && (await channelOf(tenantId)) !== null,
    pagesMax: () => live.config().MB_OCR_MAX_PAGES,
  })
}

/** Only what is counted of a caller. */
const principalOf = ({ tenantId, keyId, appId, userId }: Uploader): Principal => ({
  kind: 'general',
  tenantId,
  keyId,
  appId,
  deviceId: null,
  userId,
})

export type OpenedScans = ReturnType<typeof openScans>
