/* Plans: what a message of a known shape holds, as a tree of nodes. */
#ifndef CDC_PLANS_H
#define CDC_PLANS_H

#include "buffers.h"

#define ANY_IMAGE (-1)
#define MOST_OTHERS 4 /* messages of other shapes for each that is taken, before a scan of all messages gives up */

enum node_type { IS_OBJECT = 0, IS_LEAF = 1, IS_IMAGE = 2, IS_LITERAL = 3 };

/* A node is eight numbers:
 * IS_OBJECT:  first member, members, required members, slot for its kind or -1, image whose rows it is or -1, 1 where
 *             members have to come in their order
 * IS_LEAF:    slot, kinds taken (a bit each), image of its slot or -1, 1 where it is mostly the same as before
 * IS_IMAGE:   image, node of a row, 1 where rows stand in a list, rows demanded
 * IS_LITERAL: slot, first byte of the token among the names, length of the token, image of its slot or -1
 */
typedef struct {
    int32_t type, a, b, c, d, e, f, g;
} Node;

typedef struct {
    int32_t name, length, node, required; /* the name with its quotes */
} Member;

typedef struct {
    int32_t nodes, members, images, slots;
    Node *node;
    Member *member;
    uint8_t *names;
    int64_t names_length;
    int32_t *next;    /* by member: the member that came after it last time, as a place in its object */
    int32_t *first;   /* by node: the member that came first last time */
    uint64_t *seen;   /* by member: the number of the object in which it stood last */
    uint64_t *latest; /* by node: the cell that a leaf had last */
    int32_t *hash;    /* by node: the members of an object by the hash of their names */
    int32_t *hash_start, *hash_mask;
} Plan;

/* The place of a member in an object by its name with quotes, -1 where it has none of that name. */
int32_t find_member(const Plan *plan, int32_t number, const uint8_t *name, int64_t length);

#endif
