// The one instantiation of what headers.h declares.
#include "headers.h"

DLASIM_JSON(template)
