#include "core/cluster/cluster.h"
