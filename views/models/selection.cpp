#include "views/models/selection.h"
