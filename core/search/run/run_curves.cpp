#include "core/search/run/run_curves.h"

#include <cmath>

#include "core/io/json.h"

namespace strato {
namespace {

PlanResult::Curve read_curve(const JsonView& view) {
  PlanResult::Curve curve{view.at("title").string(),
                          view.at("name").string(),
                          view.at("x").string(),
                          view.at("y").string(),
                          {}};
  for (const JsonView& point : view.at("points").items()) {
    const std::vector<JsonView> pair = point.items();
    if (pair.size() != 2) point.fail("is no point", "give two numbers");
    curve.points.emplace_back(pair[0].number(), pair[1].number());
  }
  return curve;
}

}  // namespace

std::string curves_text(const std::vector<PlanResult::Curve>& curves) {
  Json list = Json::array();
  for (const PlanResult::Curve& curve : curves) {
    Json points = Json::array();
    for (const auto& [x, y] : curve.points)
      if (std::isfinite(x) && std::isfinite(y)) points.push_back(Json::array({x, y}));
    list.push_back({{"title", curve.title},
                    {"name", curve.name},
                    {"x", curve.x},
                    {"y", curve.y},
                    {"points", std::move(points)}});
  }
  return json_text(list);
}

std::vector<PlanResult::Curve> parse_curves(const std::string& text, const std::string& name) {
  std::vector<PlanResult::Curve> curves;
  for (const JsonView& curve : JsonView::parse(text, name).items())
    curves.push_back(read_curve(curve));
  return curves;
}

std::string curves_key(std::int64_t run) { return "run/" + std::to_string(run) + "/curves"; }

}  // namespace strato
