#include "serve_assets.hpp"

#include "site.hpp"

namespace tool::web {

response asset(const std::string& name) {
  response out{.headers = {{"Cache-Control", "max-age=86400"}}};
  if (name == "style.css") {
    out.type = "text/css; charset=utf-8";
    out.body = assets::style_css;
  } else if (name == "live.js") {
    out.type = "text/javascript; charset=utf-8";
    out.body = assets::live_js;
  } else if (name == "icon.svg") {
    out.type = "image/svg+xml";
    out.body = assets::icon_svg;
  } else {
    throw page_error(404, "There is no such file.");
  }
  return out;
}

}  // namespace tool::web
