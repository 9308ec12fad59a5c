//! Pictures as models take them: decoded within limits, made smaller where they are large, written anew without
//! what cameras and programs hide in them (working-day §7). Pure: bytes in, bytes out.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};

/// Most pictures that are kept of one result of a tool.
pub const PER_RESULT: usize = 4;
/// Most pixels a picture may have before it is looked into.
const MOST_PIXELS: u64 = 40_000_000;
/// What decoding may use: four bytes a pixel, and as much for the decoder.
const MOST_MEMORY: u64 = 8 * MOST_PIXELS;
/// The longest side that is sent.
const LONGEST_SIDE: u32 = 2_000;
/// Beyond this a photograph is written as JPEG, so that twenty pictures fit into one request.
const LARGE_PNG: usize = 1024 * 1024;
/// The largest picture that is sent: 4.5 MiB as Base64.
const LARGEST: usize = 4_608 * 1024 / 4 * 3;
const JPEG_QUALITY: u8 = 80;

/// A picture that can be sent to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Either `image/png` or `image/jpeg`.
    pub mime: &'static str,
    /// The whole file as it is sent.
    pub bytes: Vec<u8>,
    /// Width and height in pixels.
    pub size: (u32, u32),
}

/// Why a picture cannot be sent, in words for a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Another format, or bytes that are no picture at all.
    #[error("only PNG, JPEG, GIF and WebP are shown")]
    Kind,
    /// More pixels than are decoded.
    #[error("{0}×{1} pixels are too many")]
    TooLarge(u32, u32),
    /// It says it is a picture and cannot be read.
    #[error("it cannot be read: {0}")]
    Broken(String),
}

/// What vendors take, by its first bytes rather than by its name.
pub fn is_picture(mime: &str, bytes: &[u8]) -> bool {
    match mime {
        "image/png" => bytes.starts_with(b"\x89PNG\r\n\x1a\n"),
        "image/jpeg" | "image/jpg" => bytes.starts_with(b"\xff\xd8\xff"),
        "image/gif" => bytes.starts_with(b"GIF8"),
        "image/webp" => bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP"),
        _ => false,
    }
}

/// Width and height from the beginning of a file.
pub fn size_of(bytes: &[u8]) -> Option<(u32, u32)> {
    ImageReader::new(Cursor::new(bytes)).with_guessed_format().ok()?.into_dimensions().ok()
}

/// A picture in words: `image/png, 1280×720, 84 KB`.
pub fn in_words(mime: &str, size: Option<(u32, u32)>, bytes: usize) -> String {
    let pixels = size.map(|(width, height)| format!("{width}×{height}, ")).unwrap_or_default();
    format!("{mime}, {pixels}{} KB", bytes.div_ceil(1024))
}

/// Makes a picture ready for a model. The same bytes give the same picture.
pub fn prepare(bytes: &[u8]) -> Result<Picture, Refused> {
    let format = image::guess_format(bytes).map_err(|_| Refused::Kind)?;
    if !matches!(format, ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::Gif | ImageFormat::WebP) {
        return Err(Refused::Kind);
    }
    let mut limits = Limits::default();
    limits.max_alloc = Some(MOST_MEMORY);
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(broken)?;
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > MOST_PIXELS {
        return Err(Refused::TooLarge(width, height));
    }
    let turned = decoder.orientation().map_err(broken)?;
    let mut picture = DynamicImage::from_decoder(decoder).map_err(broken)?;
    picture.apply_orientation(turned);
    let mut side = LONGEST_SIDE;
    loop {
        if picture.width().max(picture.height()) > side {
            picture = picture.thumbnail(side, side);
        }
        let made = written(&picture, format)?;
        if made.bytes.len() <= LARGEST {
            return Ok(made);
        }
        side /= 2;
    }
}

/// The file: what came as JPEG stays one, anything else is a PNG unless that is large.
fn written(picture: &DynamicImage, format: ImageFormat) -> Result<Picture, Refused> {
    let size = (picture.width(), picture.height());
    let mut png = Vec::new();
    if format != ImageFormat::Jpeg {
        let plain = if picture.color().has_alpha() {
            DynamicImage::ImageRgba8(picture.to_rgba8())
        } else {
            DynamicImage::ImageRgb8(picture.to_rgb8())
        };
        let encoder = PngEncoder::new_with_quality(&mut png, CompressionType::Default, FilterType::Adaptive);
        plain.write_with_encoder(encoder).map_err(broken)?;
        if png.len() <= LARGE_PNG {
            return Ok(Picture { mime: "image/png", bytes: png, size });
        }
    }
    let mut jpeg = Vec::new();
    let encoder = JpegEncoder::new_with_quality(&mut jpeg, JPEG_QUALITY);
    on_white(picture).write_with_encoder(encoder).map_err(broken)?;
    // Drawings can be larger as JPEG.
    if !png.is_empty() && png.len() <= jpeg.len() {
        return Ok(Picture { mime: "image/png", bytes: png, size });
    }
    Ok(Picture { mime: "image/jpeg", bytes: jpeg, size })
}

/// A JPEG knows no transparency: what shines through becomes white, as on a page.
fn on_white(picture: &DynamicImage) -> DynamicImage {
    if !picture.color().has_alpha() {
        return DynamicImage::ImageRgb8(picture.to_rgb8());
    }
    let mut flat = image::RgbImage::new(picture.width(), picture.height());
    for (to, from) in flat.pixels_mut().zip(picture.to_rgba8().pixels()) {
        let alpha = u16::from(from[3]);
        for channel in 0..3 {
            let mixed = u16::from(from[channel]) * alpha + 255 * (255 - alpha);
            to[channel] = (mixed / 255) as u8;
        }
    }
    DynamicImage::ImageRgb8(flat)
}

fn broken(error: image::ImageError) -> Refused {
    // A decoder that refuses for its limits would have been too large.
    Refused::Broken(error.to_string().chars().take(120).collect())
}

#[cfg(test)]
mod tests {
    use image::{Rgb, RgbImage, Rgba, RgbaImage};

    use super::*;

    fn file(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        picture.write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    /// Looks different everywhere, so that nothing compresses well.
    fn noise(width: u32, height: u32) -> DynamicImage {
        let mut seed = 7_u32;
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 24) as u8
        };
        DynamicImage::ImageRgb8(RgbImage::from_fn(width, height, |_, _| Rgb([next(), next(), next()])))
    }

    #[test]
    fn a_small_picture_stays_what_it_shows() {
        let drawn = DynamicImage::ImageRgba8(RgbaImage::from_fn(30, 20, |x, y| {
            Rgba([x as u8 * 8, y as u8 * 12, 9, if x > 15 { 255 } else { 0 }])
        }));
        let made = prepare(&file(&drawn, ImageFormat::Png)).unwrap();
        assert_eq!((made.mime, made.size), ("image/png", (30, 20)));
        assert_eq!(image::load_from_memory(&made.bytes).unwrap().to_rgba8(), drawn.to_rgba8());
        assert_eq!(size_of(&made.bytes), Some((30, 20)));
        assert!(is_picture(made.mime, &made.bytes));
        assert_eq!(in_words(made.mime, Some(made.size), 84 * 1024), "image/png, 30×20, 84 KB");
        // The same again, byte for byte.
        assert_eq!(prepare(&file(&drawn, ImageFormat::Png)).unwrap(), made);
        let gif = prepare(&file(&drawn, ImageFormat::Gif)).unwrap();
        let webp = prepare(&file(&drawn, ImageFormat::WebP)).unwrap();
        assert_eq!((gif.mime, webp.mime, webp.size), ("image/png", "image/png", (30, 20)));
    }

    #[test]
    fn a_large_one_becomes_small_and_one_that_compresses_badly_a_jpeg() {
        let made = prepare(&file(&noise(2_400, 600), ImageFormat::Png)).unwrap();
        assert_eq!((made.mime, made.size), ("image/jpeg", (2_000, 500)));
        assert!(made.bytes.len() <= LARGEST);
        let photo = prepare(&file(&noise(64, 48), ImageFormat::Jpeg)).unwrap();
        assert_eq!((photo.mime, photo.size), ("image/jpeg", (64, 48)));
    }

    #[test]
    fn what_is_hidden_in_a_file_is_gone() {
        let mut bytes = file(&noise(8, 8), ImageFormat::Jpeg);
        // A comment behind the first mark, as a camera writes one.
        let mut comment = vec![0xff, 0xfe, 0, 14];
        comment.extend_from_slice(b"at home 52N,");
        bytes.splice(2..2, comment);
        let made = prepare(&bytes).unwrap();
        assert!(!made.bytes.windows(7).any(|part| part == b"at home"));
    }

    #[test]
    fn what_is_no_picture_is_refused() {
        assert_eq!(prepare(b"<svg xmlns='http://www.w3.org/2000/svg'/>"), Err(Refused::Kind));
        assert_eq!(prepare(b""), Err(Refused::Kind));
        assert!(matches!(prepare(b"\x89PNG\r\n\x1a\nrest"), Err(Refused::Broken(_))));
        let mut cut = file(&noise(64, 64), ImageFormat::Png);
        cut.truncate(cut.len() / 2);
        assert!(matches!(prepare(&cut), Err(Refused::Broken(_))));
        // A header that promises more than anybody decodes.
        let mut bomb = file(&noise(4, 4), ImageFormat::Png);
        bomb[16..24].copy_from_slice(&[0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30]);
        assert!(matches!(prepare(&bomb), Err(Refused::TooLarge(..) | Refused::Broken(_))));
    }
}
