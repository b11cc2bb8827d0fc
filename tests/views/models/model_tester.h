// Qt's own check of item models, which ends the test at the first fault.
#pragma once

#include <QAbstractItemModelTester>

namespace strato {

constexpr auto kFatal = QAbstractItemModelTester::FailureReportingMode::Fatal;

}  // namespace strato
