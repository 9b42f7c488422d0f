/* Plans made, and their members found by name. A plan that points outside of itself is refused. */
#include "interface.h"
#include "plans.h"

#include <stdlib.h>

static uint32_t hash_of(const uint8_t *name, int64_t length) {
    uint32_t hash = 2166136261u;
    for (int64_t i = 0; i < length; i++) hash = (hash ^ name[i]) * 16777619u;
    return hash ^ hash >> 15;
}

void cdc_free_plan(Plan *plan) {
    if (plan == NULL) return;
    free(plan->node), free(plan->member), free(plan->names), free(plan->next), free(plan->first), free(plan->seen);
    free(plan->latest), free(plan->hash), free(plan->hash_start), free(plan->hash_mask), free(plan);
}

static void *copied(const void *from, size_t size) {
    void *to = malloc(size ? size : 1);
    if (to != NULL && size) memcpy(to, from, size);
    return to;
}

static int fill_hashes(Plan *plan) {
    int64_t total = 0;
    for (int32_t n = 0; n < plan->nodes; n++) {
        if (plan->node[n].type != IS_OBJECT) continue;
        int32_t size = 4;
        while (size < 2 * plan->node[n].b) size *= 2;
        plan->hash_start[n] = (int32_t)total, plan->hash_mask[n] = size - 1;
        total += size;
    }
    plan->hash = malloc((size_t)(total ? total : 1) * sizeof(int32_t));
    if (plan->hash == NULL) return 0;
    for (int64_t i = 0; i < total; i++) plan->hash[i] = -1;
    for (int32_t n = 0; n < plan->nodes; n++) {
        Node *node = plan->node + n;
        for (int32_t m = 0; node->type == IS_OBJECT && m < node->b; m++) {
            Member *member = plan->member + node->a + m;
            uint32_t at = hash_of(plan->names + member->name, member->length) & (uint32_t)plan->hash_mask[n];
            while (plan->hash[plan->hash_start[n] + (int32_t)at] >= 0) at = (at + 1) & (uint32_t)plan->hash_mask[n];
            plan->hash[plan->hash_start[n] + (int32_t)at] = m;
        }
    }
    return 1;
}

/* Whether a plan points nowhere outside of itself. */
static int is_whole(const Plan *plan) {
    for (int32_t n = 0; n < plan->nodes; n++) {
        const Node *node = plan->node + n;
        int image = -1, slot = -1;
        switch (node->type) {
        case IS_OBJECT:
            if (node->a < 0 || node->b < 0 || (int64_t)node->a + node->b > plan->members) return 0;
            if (node->d >= plan->slots || node->e >= plan->images) return 0;
            break;
        case IS_LEAF: slot = node->a, image = node->c; break;
        case IS_IMAGE:
            if (node->a < 0 || node->a >= plan->images || node->b <= n || node->b >= plan->nodes) return 0;
            if (plan->node[node->b].type != IS_OBJECT) return 0;
            break;
        case IS_LITERAL:
            slot = node->a, image = node->d;
            if (node->b < 0 || node->c < 0 || (int64_t)node->b + node->c > plan->names_length) return 0;
            break;
        default: return 0;
        }
        if (image < ANY_IMAGE || image >= plan->images || (image == ANY_IMAGE && slot >= plan->slots)) return 0;
    }
    for (int32_t m = 0; m < plan->members; m++) {
        const Member *member = plan->member + m;
        if (member->name < 0 || member->length < 2 || (int64_t)member->name + member->length > plan->names_length) return 0;
        if (member->node < 0 || member->node >= plan->nodes) return 0;
    }
    return plan->nodes > 0 && plan->node[0].type == IS_OBJECT;
}

/* Returns a plan, or NULL where it is not whole. Node 0 is the message. */
Plan *cdc_make_plan(Buffer nodes, Buffer members, Buffer names, int32_t images, int32_t slots) {
    int32_t node_count = (int32_t)COUNT_OF(nodes, Node), member_count = (int32_t)COUNT_OF(members, Member);
    Plan *plan = calloc(1, sizeof(Plan));
    if (plan == NULL) return NULL;
    plan->nodes = node_count, plan->members = member_count, plan->images = images, plan->slots = slots;
    plan->names_length = names.size;
    size_t n = (size_t)node_count + 1, m = (size_t)member_count + 1;
    plan->node = copied(nodes.at, (size_t)node_count * sizeof(Node));
    plan->member = copied(members.at, (size_t)member_count * sizeof(Member));
    plan->names = copied(names.at, (size_t)names.size);
    plan->next = calloc(m, sizeof(int32_t)), plan->first = calloc(n, sizeof(int32_t));
    plan->seen = calloc(m, sizeof(uint64_t)), plan->latest = calloc(n, sizeof(uint64_t));
    plan->hash_start = calloc(n, sizeof(int32_t)), plan->hash_mask = calloc(n, sizeof(int32_t));
    if (!plan->node || !plan->member || !plan->names || !plan->next || !plan->first || !plan->seen || !plan->latest ||
        !plan->hash_start || !plan->hash_mask || !is_whole(plan) || !fill_hashes(plan)) {
        cdc_free_plan(plan);
        return NULL;
    }
    for (int32_t o = 0; o < node_count; o++)
        for (int32_t i = 0; plan->node[o].type == IS_OBJECT && i < plan->node[o].b; i++)
            plan->next[plan->node[o].a + i] = i + 1 < plan->node[o].b ? i + 1 : 0;
    return plan;
}

int32_t find_member(const Plan *plan, int32_t number, const uint8_t *name, int64_t length) {
    const Node *node = plan->node + number;
    uint32_t mask = (uint32_t)plan->hash_mask[number], at = hash_of(name, length) & mask;
    for (;; at = (at + 1) & mask) {
        int32_t place = plan->hash[plan->hash_start[number] + (int32_t)at];
        if (place < 0) return -1;
        const Member *member = plan->member + node->a + place;
        if (member->length == length && memcmp(plan->names + member->name, name, (size_t)length) == 0) return place;
    }
}
