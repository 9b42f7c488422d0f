/* Fields: the structures that cross the boundary are lists of their members. `MEMBER` declares these; `interface.c` tells
 * the caller what they are.
 */
#ifndef CDC_FIELDS_H
#define CDC_FIELDS_H

#define MEMBER(type, name) type name;

#endif
