#include "core/store/workspace.h"
