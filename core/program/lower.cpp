#include "core/program/lower.h"
