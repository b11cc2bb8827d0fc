#include "core/plugin/plugin.h"
