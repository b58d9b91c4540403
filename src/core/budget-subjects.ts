/** Budgets of a tenant and of a person stand beside those of keys, whose ids have no space. */
export const tenantSubject = (tenantId: string) => `tenant ${tenantId}`
export const personSubject = (tenantId: string, userId: string) => `person ${tenantId} ${userId}`
