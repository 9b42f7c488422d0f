CREATE TABLE `orders` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT COMMENT 'the id; never reused',
  `price` decimal(10,2) DEFAULT '0.00',
  `quantity` int(11) unsigned zerofill NOT NULL DEFAULT '00000000001',
  `state` enum('new','it''s, (done)','#3') CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  `tags` set('a','b') DEFAULT NULL,
  `rate` float unsigned DEFAULT NULL,
  `made` datetime(3) DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3),
  `seen` timestamp(6) NULL DEFAULT NULL,
  `place` point /*!80003 SRID 4326 */ DEFAULT NULL,
  `doc` json DEFAULT (json_object(_utf8mb4'a', null)),
  `order` varchar(64) NOT NULL,
  `total` decimal(12,2) GENERATED ALWAYS AS (`price` * `quantity`) STORED NOT NULL,
  `half` decimal(12,2) GENERATED ALWAYS AS (`price` / 2) VIRTUAL,
  PRIMARY KEY (`order`(10),`id`) USING BTREE,
  UNIQUE KEY `made` (`made`),
  FULLTEXT KEY `words` (`order`),
  SPATIAL KEY `near` (`place`),
  CONSTRAINT `fk` FOREIGN KEY (`id`) REFERENCES `shop`.`others` (`id`) ON DELETE SET NULL,
  CONSTRAINT `positive` CHECK ((`price` is not null) and (`quantity` > 0))
) ENGINE=InnoDB AUTO_INCREMENT=17 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci ROW_FORMAT=DYNAMIC COMMENT='what people want'
/*!50100 PARTITION BY RANGE (`id`)
(PARTITION p0 VALUES LESS THAN (10) ENGINE = InnoDB,
 PARTITION p1 VALUES LESS THAN MAXVALUE ENGINE = InnoDB) */
