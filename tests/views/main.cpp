// Tests with widgets run without a screen, and find resources and plugins in the build folder.
#include <gtest/gtest.h>

#include <QApplication>

#include "tests/paths.h"

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  qputenv("STRATOSCOPE_HOME", strato::kBuildFolder);
  ::testing::InitGoogleTest(&argc, argv);
  QApplication app(argc, argv);
  return RUN_ALL_TESTS();
}
