import { MANAGERS } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import { TenantSettings, TenantSettingsRequest } from './model.ts'
import type { Settings } from './service.ts'

const replace = jsonBody(TenantSettingsRequest)

/** The tenant's settings, below /console. */
export const settingsRoutes = (on: Gated, settings: Settings) =>
  on
    .get('/settings', ({ principal }) => settings.read(principal.tenantId), {
      allow: MANAGERS,
      response: TenantSettings,
      detail: { summary: 'Read the tenant settings' },
    })
    .put(
      '/settings',
      async ({ principal, request, upload }) =>
        settings.save(principal.tenantId, await replace.read(request, upload)),
      {
        allow: MANAGERS,
        parse: 'none',
        response: TenantSettings,
        detail: { summary: 'Replace the tenant settings', requestBody: replace.doc },
      },
    )
